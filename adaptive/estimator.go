package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Estimator sets the timeout of attempts from what has been observed so far. Both
// methods are called with instants that never decrease, so an estimator may forget
// as it goes. One estimator serves one replay: build a fresh one for the next.
type Estimator interface {
	// Timeout returns the timeout of an attempt due at this instant, counted from then.
	Timeout(at datasets.Instant) time.Duration
	// Observe takes what became of an attempt, at the instant it became known.
	Observe(o Observation)
}

// Observation is what a caller learns of one attempt.
type Observation struct {
	At       datasets.Instant // when it became known
	Latency  time.Duration    // of the answer, from when the attempt was due
	Censored bool             // there was no answer: the latency would have been more
	Attempt  int              // 1 for the first of a call
}

// Estimators lists the timeout estimators. Each Parse builds a fresh one.
func Estimators() spec.Table[Estimator] {
	return spec.Table[Estimator]{
		{Name: "fixed", Summary: "the same timeout for every attempt", Bind: bindFixed},
		{Name: "quantile", Summary: "a quantile of the last minute, times a factor, plus a margin", Bind: bindQuantile},
		{Name: "jacobson", Summary: "smoothed mean plus k mean deviations (RFC 6298)", Bind: bindJacobson},
	}
}
