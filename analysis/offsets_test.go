package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func TestOffsets(t *testing.T) {
	o := analysis.OffsetSummary{Assumptions: analysis.BoundAssumptions{SelfBias: datasets.Some(100 * time.Nanosecond)}}
	// Milliseconds: θ = i, δ = 2(500−i) with no time spent in the server.
	for i := range int64(400) {
		half := 500 - i
		e := exchangeOf(time.Millisecond, 0, half+i, half+i, 2*half)
		e.Due = datasets.Instant(i)
		o.Add(e)
	}
	bad := exchangeOf(time.Millisecond, 0, 1, 2, 3)
	bad.Outcome = datasets.Invalid
	o.Add(bad)
	o.Add(exchangeOf(time.Millisecond, 0, 250, 0, -500)) // δ = −250 ms
	o.Add(&datasets.Exchange{})                          // answered without stamps
	o.Add(&datasets.Exchange{Sample: datasets.Sample{Outcome: datasets.TimedOut}})
	got := o.Summary(.95)
	// Ranks 180 and 221 of 400: P(B<180) = Φ(−2.05) = .020 and P(B<181) = Φ(−1.95) = .026.
	checkCells(t, "θ p50", got.P50, .199, .179, .220)
	if v, _, _ := got.P99Abs.Cells(); v != .395 {
		t.Errorf("|θ| p99 %v, want the 396th of 0…399 ms", v)
	}
	best, ok := got.Best.Value()
	if !ok || best.At != 399 || best.Offset != .399 || best.Delay != .202 {
		t.Errorf("best %+v", best)
	}
	// δ/2 + 50 ppm of the elapsed 202 ms + self-bias 100 ns; precisions are zero.
	if want := .101 + 50*ppm*.202 + 1e-7; !within(best.Seconds, want, 1e-12) {
		t.Errorf("bound %v, want %v", best.Seconds, want)
	}
	if got.N != 400 || got.Invalid != 1 || len(got.Warnings) != 2 {
		t.Errorf("n %d, invalid %d, warnings %q", got.N, got.Invalid, got.Warnings)
	}
}

func TestOffsetsNegativeSideCountsByMagnitude(t *testing.T) {
	var o analysis.OffsetSummary
	for i := range int64(400) {
		o.Add(exchangeOf(time.Millisecond, 0, 1000-i, 1000-i, 2000))
	}
	got := o.Summary(.95)
	if v, _, _ := got.P50.Cells(); v != -.200 {
		t.Errorf("θ p50 %v, want the 200th of −399…0 ms", v)
	}
	if v, _, _ := got.P99Abs.Cells(); v != .395 {
		t.Errorf("|θ| p99 %v", v)
	}
}

func TestOffsetsWithoutASelfTestSaySo(t *testing.T) {
	const warning = "offset: no self-test of this instrument: its own bias is not in the bound (tickmark selftest measures it)"
	for value, want := range map[string]bool{"": true, "0s": false, "-3µs": false} {
		h := &datasets.Header{}
		if value != "" {
			h.Set(datasets.KeySelfBias, value)
		}
		o := analysis.NewOffsetSummary(h)
		o.Add(exchangeOf(time.Millisecond, 0, 1, 1, 2))
		if got := o.Summary(.95).Warnings; slices.Contains(got, warning) != want {
			t.Errorf("self-bias %q: warnings %q", value, got)
		}
	}
}

// Where no self-test can tell, the header says why, and nobody is sent to make one.
func TestOffsetsThatNoSelfTestCovers(t *testing.T) {
	h := &datasets.Header{}
	h.Set(datasets.KeySelfTest, "none reaches the stamps of a NIC")
	o := analysis.NewOffsetSummary(h)
	o.Add(exchangeOf(time.Millisecond, 0, 1, 1, 2))
	got := o.Summary(.95).Warnings
	if !slices.Contains(got, "offset: the instrument's own bias is not in the bound: none reaches the stamps of a NIC") ||
		slices.ContainsFunc(got, func(w string) bool { return strings.Contains(w, "tickmark selftest") }) {
		t.Errorf("warnings %q", got)
	}
}

func TestOffsetsOfNothing(t *testing.T) {
	var o analysis.OffsetSummary
	got := o.Summary(.95)
	if _, ok := got.Best.Value(); ok {
		t.Error("a best of none")
	}
	want := []string{"offset p50: needs 6 samples, has 0", "|offset| p99: needs 368 samples, has 0"}
	if !slices.Equal(got.Warnings, want) {
		t.Errorf("warnings %q, want %q", got.Warnings, want)
	}
}

func TestOffsetAssumptionsComeFromTheHeader(t *testing.T) {
	h := &datasets.Header{}
	h.Set(datasets.KeyMaxDrift, "15ppm")
	h.Set(datasets.KeyPrecision, "70ns")
	h.Set(datasets.KeySelfBias, "-1.5µs")
	want := analysis.BoundAssumptions{
		MaxDriftPPM: 15, LocalPrecision: datasets.Some(70 * time.Nanosecond), SelfBias: datasets.Some(-1500 * time.Nanosecond),
	}
	if got := analysis.NewOffsetSummary(h).Assumptions; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := analysis.NewOffsetSummary(&datasets.Header{}).Assumptions; got != (analysis.BoundAssumptions{}) {
		t.Errorf("of an empty header: %+v", got)
	}
}

func TestOffsetsSayWhatWasLeftOut(t *testing.T) {
	for n, want := range map[int][]string{
		1: {
			"offset: 1 exchange lacks a stamp and has no offset",
			"offset: 1 exchange has a negative round trip (a clock stepped or a stamp lies) and is left out",
		},
		2: {
			"offset: 2 exchanges lack a stamp and have no offset",
			"offset: 2 exchanges have a negative round trip (a clock stepped or a stamp lies) and are left out",
		},
	} {
		var o analysis.OffsetSummary
		for range n {
			o.Add(&datasets.Exchange{})
			o.Add(exchangeOf(time.Millisecond, 0, 250, 0, -500))
		}
		if got := o.Summary(.95).Warnings; !slices.Equal(got[:2], want) {
			t.Errorf("warnings %q, want %q first", got, want)
		}
	}
}

func TestMaxDriftThatIsNoneIsNamed(t *testing.T) {
	for text, want := range map[string]bool{"15ppm": false, "fast": true, "0ppm": true, "-5ppm": true, "": true} {
		h := &datasets.Header{}
		h.Set(datasets.KeyMaxDrift, text)
		warning := `offset: max-drift "` + text + `": want a positive rate, such as 50ppm; 50 ppm is assumed`
		o := analysis.NewOffsetSummary(h)
		if got := o.Summary(.95).Warnings; slices.Contains(got, warning) != want {
			t.Errorf("max-drift %q: warnings %q", text, got)
		}
		if got := o.Assumptions.MaxDriftPPM; want != (got == 0) {
			t.Errorf("max-drift %q: %v ppm", text, got)
		}
	}
}
