package probes

import (
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// deadlines says after which time an answer is late. It ends nothing: an attempt is
// listened for as long as before, so a late answer has its latency.
//
// Without one that the user asked for they are staggered, from half the time we listen
// to all of it: samples that one deadline for all cuts off at one place tell nothing of
// what lies beyond it to whoever has no more than the outcomes (Kaplan and Meier 1958:
// no quantile is identifiable above the largest time of censoring).
type deadlines struct {
	fixed  datasets.Optional[time.Duration]
	listen time.Duration
}

// of returns the deadline of an attempt, a function of its number alone: the fractional
// parts of multiples of the golden ratio fill the range evenly however many there are
// (Weyl 1916), on a logarithmic scale.
func (d deadlines) of(seq int64) datasets.Optional[time.Duration] {
	if _, ok := d.fixed.Value(); ok || d.listen == 0 {
		return d.fixed
	}
	_, part := math.Modf(float64(seq) * math.Phi)
	at := float64(d.listen) / 2 * math.Exp2(part)
	return datasets.Some(time.Duration(at).Round(time.Microsecond))
}

// String returns fixed:after=250ms, staggered:from=1s,to=2s or none.
func (d deadlines) String() string {
	if after, ok := d.fixed.Value(); ok {
		return "fixed:after=" + spec.Duration(after)
	}
	if d.listen == 0 {
		return "none"
	}
	return "staggered:from=" + spec.Duration(d.listen/2) + ",to=" + spec.Duration(d.listen)
}

// DeadlineDoubt says what it costs that plan asks for one deadline for all, or "".
func DeadlineDoubt(plan Plan) string {
	if after, ok := plan.Deadline.Value(); ok {
		return "one deadline for all, " + spec.Duration(after) + ": whoever keeps no late answers learns nothing beyond it; leave --deadline out and they are staggered"
	}
	return ""
}
