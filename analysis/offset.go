package analysis

import (
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// TermKind says what a term of a bound rests on.
type TermKind string

// The kinds of a term, from the firmest to the weakest.
const (
	BoundTerm    TermKind = "bound"    // follows from the stamps alone, if no clock stepped
	EstimateTerm TermKind = "estimate" // was measured
	AssumedTerm  TermKind = "assumed"  // was told or supposed, not measured
)

// Term is one row of an offset's budget.
type Term struct {
	Name    string
	Kind    TermKind
	Seconds float64 // ≥ 0
	Source  string
}

// OffsetBound is an offset with the hard limit of its error and what the limit is
// made of.
type OffsetBound struct {
	Offset  float64 // θ in seconds, positive when the local clock is slow
	Seconds float64 // E, the sum of the terms: |θ − true θ| ≤ E while the assumptions hold
	Terms   []Term
}

// DefaultMaxDriftPPM is the rate error that a local clock is assumed not to exceed
// if nothing better is known. AWS ClockBound advises it for a bound; the 1 ppm that
// chrony starts from serves an estimate, not a bound.
const DefaultMaxDriftPPM = 50

// BoundAssumptions is what one exchange cannot tell. What is absent was not measured
// and is assumed to be nothing.
type BoundAssumptions struct {
	MaxDriftPPM    float64                          // of the local clock against the server's; 0 is DefaultMaxDriftPPM
	LocalPrecision datasets.Optional[time.Duration] // smallest step and reading cost of the local clock (header key "precision")
	SelfBias       datasets.Optional[time.Duration] // the instrument's own error of θ, from a self-test; added whatever its sign
}

// Bound returns the offset of one exchange, in seconds, with its hard limit
//
//	E = δ/2 + ρ_local + ρ_remote + φ·(T4−T1) + RootDelay/2 + RootDisp + |self-bias|
//
// The half delay is the whole unknown share of the path's asymmetry (RFC 5905
// §8); φ·(T4−T1) is how far the clocks may have drifted apart within the exchange.
// What a server does not say of itself counts as zero, and its source tells so: the
// offset is then bounded against that server, not against UTC.
//
// It is false for an exchange that was not answered, lacks a stamp, or has δ < 0:
// there a clock stepped or a stamp lies, and nothing follows from it.
func Bound(e *datasets.Exchange, a BoundAssumptions) (OffsetBound, bool) {
	theta, complete := e.Offset()
	delta, _ := e.Delay()
	elapsed, _ := e.WallElapsed()
	if !e.Outcome.Answered() || !complete || delta < 0 {
		return OffsetBound{}, false
	}
	if a.MaxDriftPPM == 0 {
		a.MaxDriftPPM = DefaultMaxDriftPPM
	}
	b := OffsetBound{Offset: theta.Seconds(), Terms: []Term{
		{"half delay", BoundTerm, delta.Seconds() / 2, "the four stamps: asymmetry of the path is invisible to them"},
		measuredTerm("local precision", a.LocalPrecision, "smallest step and reading cost of the local clock", "not measured: taken as none"),
		remotePrecision(e),
		{"drift in the exchange", AssumedTerm, math.Abs(a.MaxDriftPPM * 1e-6 * elapsed.Seconds()), "assumed maximum drift"},
		serverTerm("root delay / 2", e.RootDelay, 0.5),
		serverTerm("root dispersion", e.RootDispersion, 1),
		measuredTerm("self-bias", a.SelfBias, "self-test", "no self-test: taken as none"),
	}}
	for _, t := range b.Terms {
		b.Seconds += t.Seconds
	}
	return b, true
}

// measuredTerm is what this host found out about itself, if it did.
func measuredTerm(name string, found datasets.Optional[time.Duration], how, without string) Term {
	d, measured := found.Value()
	if !measured {
		return Term{name, AssumedTerm, 0, without}
	}
	return Term{name, EstimateTerm, math.Abs(d.Seconds()), how}
}

const (
	serverSays   = "the server's own claim"
	serverSilent = "not told by the server"
)

// remotePrecision is 2^precision seconds (RFC 5905 §7.3).
func remotePrecision(e *datasets.Exchange) Term {
	log2, told := e.Precision.Value()
	if !told {
		return Term{"remote precision", AssumedTerm, 0, serverSilent}
	}
	return Term{"remote precision", AssumedTerm, math.Ldexp(1, log2), serverSays}
}

// serverTerm takes a negative claim, which no honest server makes, as zero.
func serverTerm(name string, claim datasets.Optional[time.Duration], weight float64) Term {
	d, told := claim.Value()
	if !told {
		return Term{name, AssumedTerm, 0, serverSilent}
	}
	return Term{name, AssumedTerm, weight * max(d, 0).Seconds(), serverSays}
}
