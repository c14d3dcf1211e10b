package analysis

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// OffsetSummary sums up an exchange trace. It takes its assumptions once, for the
// bound; with the zero value it is ready and holds 16 bytes an exchange.
type OffsetSummary struct {
	Assumptions BoundAssumptions

	theta, abs   ranks
	invalid      int64
	incomplete   int64
	negative     int64
	best         Best
	minimalDelay datasets.Optional[time.Duration]
	doubt        string // about the header
	promised     string // who was to stamp, by the header
	selfTest     string // what the header says of one
	trust        trust
}

// NewOffsetSummary returns a summary that takes its assumptions from the header of
// the trace: "max-drift" (such as 50ppm), "precision" and "self-bias".
func NewOffsetSummary(h *datasets.Header) *OffsetSummary {
	o := &OffsetSummary{}
	if text, ok := h.Value(datasets.KeyMaxDrift); ok {
		ppm, err := unit.Parse(text, "ppm")
		if err == nil && ppm > 0 {
			o.Assumptions.MaxDriftPPM = ppm
		} else {
			o.doubt = fmt.Sprintf("offset: max-drift %q: want a positive rate, such as 50ppm; %d ppm is assumed", text, DefaultMaxDriftPPM)
		}
	}
	o.promised = h.Text(datasets.KeyStamps)
	o.selfTest = h.Text(datasets.KeySelfTest)
	o.Assumptions.LocalPrecision = told(h, datasets.KeyPrecision)
	o.Assumptions.SelfBias = told(h, datasets.KeySelfBias)
	return o
}

func told(h *datasets.Header, key string) datasets.Optional[time.Duration] {
	if d, ok := h.Duration(key); ok {
		return datasets.Some(d)
	}
	return datasets.Optional[time.Duration]{}
}

// Offsets is what an exchange trace says of θ, in seconds.
type Offsets struct {
	N              int64    // exchanges with an offset
	P50            Interval // of θ, positive when the local clock is slow
	P50Abs, P99Abs Interval // of |θ|
	Best           datasets.Optional[Best]
	Invalid        int64 // exchanges with an answer that must not be believed
	Negative       int64 // exchanges whose round trip is negative
	// State is whether the server is to be believed as far as its exchanges tell: good,
	// doubtful, refused or silent; Why says why not.
	State, Why string
	Stamps     string // who took T1, T2, T3 and T4 in most exchanges
	Warnings   []string
}

// Best is the exchange with the shortest round trip, the one that asymmetric delays
// can mislead least.
type Best struct {
	At    datasets.Instant
	Delay float64 // δ in seconds
	OffsetBound
}

// Add takes one exchange. One that was not answered has no offset, and one with
// δ < 0 proves a clock step or a lying stamp, so neither has a part in any number.
func (o *OffsetSummary) Add(e *datasets.Exchange) {
	if e.Outcome == datasets.Invalid {
		o.invalid++
		o.trust.refused(e.Why)
	}
	if !e.Outcome.Answered() {
		return
	}
	theta, complete := e.Offset()
	delay, _ := e.Delay()
	switch {
	case !complete:
		o.incomplete++
		return
	case delay < 0:
		o.trust.refused("the delay is negative: a clock stepped or a stamp lies")
		o.negative++
		return
	}
	o.trust.believed(e)
	o.theta.add(theta)
	o.abs.add(theta.Abs())
	if least, ok := o.minimalDelay.Value(); ok && delay >= least {
		return
	}
	o.minimalDelay = datasets.Some(delay)
	b, _ := Bound(e, o.Assumptions)
	o.best = Best{At: e.Due, Delay: delay.Seconds(), OffsetBound: b}
}

// untested says that the bound lacks what a self-test would have told.
func (o *OffsetSummary) untested() string {
	if o.selfTest != "" {
		return "offset: the instrument's own bias is not in the bound: " + o.selfTest
	}
	return "offset: no self-test of this instrument: its own bias is not in the bound (tickmark selftest measures it)"
}

// Summary returns the whole, with order-statistic intervals at level.
func (o *OffsetSummary) Summary(level float64) Offsets {
	out := Offsets{N: int64(o.theta.len()), P50: o.theta.quantile(0.5, level), P50Abs: o.abs.quantile(0.5, level), P99Abs: o.abs.quantile(0.99, level), Invalid: o.invalid, Negative: o.negative}
	out.State, out.Why = o.trust.state(out.N, o.invalid+o.negative)
	out.Stamps, _ = o.trust.stamps()
	if o.theta.len() > 0 {
		out.Best = datasets.Some(o.best)
		if _, tested := o.Assumptions.SelfBias.Value(); !tested {
			out.Warnings = append(out.Warnings, o.untested())
		}
	}
	if o.doubt != "" {
		out.Warnings = append(out.Warnings, o.doubt)
	}
	if o.incomplete > 0 {
		out.Warnings = append(out.Warnings, "offset: "+
			counted(o.incomplete, "exchange lacks a stamp and has no offset", "exchanges lack a stamp and have no offset"))
	}
	if o.negative > 0 {
		const why = " a negative round trip (a clock stepped or a stamp lies) and "
		out.Warnings = append(out.Warnings, "offset: "+counted(o.negative, "exchange has"+why+"is left out", "exchanges have"+why+"are left out"))
	}
	if w := broken(o.promised, out.Stamps); w != "" {
		out.Warnings = append(out.Warnings, w)
	}
	out.Warnings = append(out.Warnings, o.trust.warnings(out.State, out.Why)...)
	out.Warnings = append(out.Warnings, out.P50.about("offset")...)
	out.Warnings = append(out.Warnings, out.P99Abs.about("|offset|")...)
	return out
}
