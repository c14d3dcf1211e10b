package analysis_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// exchangeOf builds an answered exchange from four stamps.
func exchangeOf(unit time.Duration, t1, t2, t3, t4 int64) *datasets.Exchange {
	at := func(t int64, clock datasets.ClockID) datasets.Stamp {
		return datasets.NewStamp(t*int64(unit), clock, datasets.User)
	}
	return &datasets.Exchange{
		T1: at(t1, datasets.Local), T2: at(t2, datasets.Remote), T3: at(t3, datasets.Remote), T4: at(t4, datasets.Local),
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*max(1, math.Abs(want)) }

// Offset and delay of four stamps in ms: the cases of beevik/ntp v1.6.0's
// ntp_test.go, and the exchange of facebook/time's sptp test (200 µs from server to
// client, 400 µs back; its sign is the opposite of RFC 5905's).
func TestFourStampOracles(t *testing.T) {
	for _, c := range []struct {
		unit           time.Duration
		t1, t2, t3, t4 int64
		offset, delay  float64
	}{
		{time.Millisecond, 0, 1, 1, 1, 0.5e-3, 1e-3},
		{time.Millisecond, 0, 1, 1, 10, -4e-3, 10e-3},
		{time.Millisecond, 78, 38, 38, 94, -48e-3, 16e-3},
		{time.Millisecond, 0, 25, 25, 1, 24.5e-3, 1e-3},
		{time.Microsecond, 0, 400, 1000, 1200, 100e-6, 600e-6},
	} {
		b, ok := analysis.Bound(exchangeOf(c.unit, c.t1, c.t2, c.t3, c.t4), analysis.BoundAssumptions{})
		if !ok || !near(b.Offset, c.offset) {
			t.Errorf("%d %d %d %d: θ %v s, %v; want %v", c.t1, c.t2, c.t3, c.t4, b.Offset, ok, c.offset)
			continue
		}
		if got := term(t, b, "half delay"); !near(got.Seconds, c.delay/2) || got.Kind != analysis.BoundTerm {
			t.Errorf("%d %d %d %d: half delay %+v, want %v s", c.t1, c.t2, c.t3, c.t4, got, c.delay/2)
		}
	}
}

func term(t *testing.T, b analysis.OffsetBound, name string) analysis.Term {
	t.Helper()
	for _, x := range b.Terms {
		if x.Name == name {
			return x
		}
	}
	t.Fatalf("no term %q in %+v", name, b.Terms)
	return analysis.Term{}
}

// Published sums, with the daemon's own correction in the place of the known bias:
// the example of the chronyc manual (system time 6.523 µs, root dispersion
// 1100.737 µs, root delay 13639.022 µs) and two tests of AWS ClockBound.
func TestPublishedBounds(t *testing.T) {
	const us = float64(time.Microsecond)
	for _, c := range []struct {
		name                  string
		rootDelay, dispersion float64 // ns
		a                     analysis.BoundAssumptions
		want                  float64 // s
	}{
		{"chronyc", 13639.022 * us, 1100.737 * us, analysis.BoundAssumptions{SelfBias: datasets.Some(6523 * time.Nanosecond)}, 7926.771e-6},
		{"ClockBound", 1e9, 2e9, analysis.BoundAssumptions{SelfBias: datasets.Some(-time.Second)}, 3.5},
		{"ClockBound, PHC", 1e9, 2e9, analysis.BoundAssumptions{SelfBias: datasets.Some(-time.Second), LocalPrecision: datasets.Some(123456 * time.Nanosecond)}, 3.500123456},
	} {
		e := exchangeOf(time.Second, 5, 5, 5, 5)
		e.RootDelay = datasets.Some(time.Duration(c.rootDelay))
		e.RootDispersion = datasets.Some(time.Duration(c.dispersion))
		if b, ok := analysis.Bound(e, c.a); !ok || !near(b.Seconds, c.want) {
			t.Errorf("%s: %v s, %v; want %v", c.name, b.Seconds, ok, c.want)
		}
	}
}

func TestEveryTermIsListedWithItsKind(t *testing.T) {
	e := exchangeOf(time.Millisecond, 0, 500, 600, 1100)
	e.RootDelay, e.RootDispersion, e.Precision = datasets.Some(30*time.Millisecond), datasets.Some(7*time.Millisecond), datasets.Some(-20)
	b, ok := analysis.Bound(e, analysis.BoundAssumptions{
		MaxDriftPPM: 15, LocalPrecision: datasets.Some(70 * time.Nanosecond), SelfBias: datasets.Some(-4 * time.Microsecond),
	})
	if !ok {
		t.Fatal("refused")
	}
	sum := 0.0
	for _, want := range []analysis.Term{
		{Name: "half delay", Kind: analysis.BoundTerm, Seconds: 0.5},
		{Name: "local precision", Kind: analysis.EstimateTerm, Seconds: 70e-9},
		{Name: "remote precision", Kind: analysis.AssumedTerm, Seconds: 1.0 / (1 << 20)}, // 2^−20 s
		{Name: "drift in the exchange", Kind: analysis.AssumedTerm, Seconds: 15e-6 * 1.1},
		{Name: "root delay / 2", Kind: analysis.AssumedTerm, Seconds: 0.015},
		{Name: "root dispersion", Kind: analysis.AssumedTerm, Seconds: 0.007},
		{Name: "self-bias", Kind: analysis.EstimateTerm, Seconds: 4e-6},
	} {
		got := term(t, b, want.Name)
		if got.Kind != want.Kind || !near(got.Seconds, want.Seconds) || got.Source == "" {
			t.Errorf("got %+v, want %+v with a source", got, want)
		}
		sum += want.Seconds
	}
	if !near(b.Seconds, sum) {
		t.Errorf("E = %v s, want the sum of the terms %v", b.Seconds, sum)
	}
}

// A term that nobody measured must not look like a measurement of zero.
func TestWhatWasNotMeasuredIsAssumed(t *testing.T) {
	e := exchangeOf(time.Millisecond, 0, 1, 1, 2)
	b, _ := analysis.Bound(e, analysis.BoundAssumptions{})
	for name, source := range map[string]string{
		"self-bias": "no self-test: taken as none", "local precision": "not measured: taken as none",
	} {
		if got, want := term(t, b, name), (analysis.Term{Name: name, Kind: analysis.AssumedTerm, Source: source}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	none := datasets.Some(time.Duration(0)) // a self-test that found nothing is one
	b, _ = analysis.Bound(e, analysis.BoundAssumptions{SelfBias: none, LocalPrecision: none})
	for _, name := range []string{"self-bias", "local precision"} {
		if got := term(t, b, name); got.Kind != analysis.EstimateTerm {
			t.Errorf("measured as 0: got %+v", got)
		}
	}
}

// What is called a bound must not rest on a drift of 1 ppm, or of none, that
// nobody asked for.
func TestDriftDefaultsTo50PPM(t *testing.T) {
	b, _ := analysis.Bound(exchangeOf(time.Second, 0, 1, 1, 2), analysis.BoundAssumptions{})
	if got := term(t, b, "drift in the exchange"); !near(got.Seconds, 100e-6) { // 50 ppm of 2 s
		t.Errorf("%v s, want 100 µs", got.Seconds)
	}
}

func TestBoundRefuses(t *testing.T) {
	stepped := exchangeOf(time.Second, 0, 0, 3, 1) // δ = −2 s
	timedOut := exchangeOf(time.Second, 0, 1, 1, 2)
	timedOut.Outcome = datasets.TimedOut
	invalid := exchangeOf(time.Second, 0, 1, 1, 2)
	invalid.Outcome = datasets.Invalid
	partial := exchangeOf(time.Second, 0, 1, 1, 2)
	partial.T3 = datasets.Stamp{}
	for name, e := range map[string]*datasets.Exchange{
		"negative delay": stepped, "timed out": timedOut, "invalid": invalid, "three stamps": partial, "empty": {},
	} {
		if b, ok := analysis.Bound(e, analysis.BoundAssumptions{}); ok {
			t.Errorf("%s: bounded by %v s", name, b.Seconds)
		}
	}
}

// world is one simulated exchange, in true time: the local clock runs drift too
// fast and is behind by θ* = theta0 − drift·t at true time t.
type world struct {
	drift, theta0          float64 // ratio, s
	send, out, server, in  float64 // s
	localStep, remotePower float64 // precision of the stamps: s, log2 s
}

func (w world) theta(t float64) float64 { return w.theta0 - w.drift*t }

// exchange stamps the exchange with clocks that are read too low by up to their
// precision.
func (w world) exchange(r *rand.Rand) *datasets.Exchange {
	local := func(t float64) datasets.Stamp {
		reading := t - w.theta(t) - r.Float64()*w.localStep
		return datasets.NewStamp(int64(math.Floor(reading*1e9)), datasets.Local, datasets.User)
	}
	remote := func(t float64) datasets.Stamp {
		reading := t - r.Float64()*math.Exp2(w.remotePower)
		return datasets.NewStamp(int64(math.Floor(reading*1e9)), datasets.Remote, datasets.User)
	}
	t2 := w.send + w.out
	t3 := t2 + w.server
	return &datasets.Exchange{
		T1: local(w.send), T2: remote(t2), T3: remote(t3), T4: local(t3 + w.in),
		Precision: datasets.Some(int(w.remotePower)),
	}
}

// |θ − θ*| ≤ E, with θ* anywhere within the exchange, for any asymmetry, drift up to
// the assumed one, and clocks of any precision; and some exchanges come near E.
func TestBoundHoldsInSimulation(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for i := range 20000 {
		delay := math.Pow(10, -6+5*r.Float64()) // 1 µs .. 100 ms
		w := world{
			drift: (2*r.Float64() - 1) * 50e-6, theta0: r.NormFloat64(),
			send: 1000 * r.Float64(), out: delay * r.Float64() * r.Float64(), server: 0.01 * r.Float64(), in: delay * r.Float64(),
			localStep: 1e-6 * r.Float64(), remotePower: -30 + float64(r.IntN(15)),
		}
		e := w.exchange(r)
		// A ns for each stamp's own rounding, and the drift of the drift.
		precision := time.Duration(w.localStep*1e9) + 2
		b, ok := analysis.Bound(e, analysis.BoundAssumptions{MaxDriftPPM: 50, LocalPrecision: datasets.Some(precision)})
		if !ok {
			continue // δ < 0 by the precision of the stamps
		}
		for _, at := range []float64{w.send, w.send + w.out + w.server/2, w.send + w.out + w.server + w.in} {
			share := math.Abs(b.Offset-w.theta(at)) / b.Seconds
			worst = max(worst, share)
			if share > 1 {
				t.Fatalf("exchange %d: |θ − θ*| is %.6f of E = %v s: %+v", i, share, b.Seconds, w)
			}
		}
	}
	if worst < 0.9 {
		t.Errorf("the worst error is %.3f of E: the simulation never tests the bound", worst)
	}
}

// Moving all four stamps together, or the two clocks apart, changes neither E nor,
// beyond the move itself, θ.
func TestBoundIsShiftInvariant(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		t1 := r.Int64N(1e9)
		t2 := r.Int64N(1e9)
		t3 := t2 + r.Int64N(1e6)
		t4 := t1 + (t3 - t2) + r.Int64N(1e8)
		all, apart := r.Int64N(1<<60)-1<<59, 2*r.Int64N(1e15)
		base, ok1 := analysis.Bound(exchangeOf(1, t1, t2, t3, t4), analysis.BoundAssumptions{})
		moved, ok2 := analysis.Bound(exchangeOf(1, t1+all, t2+all, t3+all, t4+all), analysis.BoundAssumptions{})
		shifted, ok3 := analysis.Bound(exchangeOf(1, t1, t2+apart, t3+apart, t4), analysis.BoundAssumptions{})
		if !ok1 || !ok2 || !ok3 || moved.Offset != base.Offset || moved.Seconds != base.Seconds || shifted.Seconds != base.Seconds {
			t.Fatalf("%d %d %d %d: %+v, moved by %d %+v, apart by %d %+v", t1, t2, t3, t4, base, all, moved, apart, shifted)
		}
		// θ is cut to whole nanoseconds towards zero, so a change of sign moves it by one.
		if got, want := shifted.Offset-base.Offset, float64(apart)/1e9; math.Abs(got-want) > 1.5e-9 {
			t.Fatalf("apart by %v s: θ moved by %v s", want, got)
		}
	}
}
