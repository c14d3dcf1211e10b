package adaptive_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/datasets"
)

func observe(e adaptive.Estimator, at time.Duration, latencies ...float64) (timeouts []float64) {
	for _, ms := range latencies {
		e.Observe(adaptive.Observation{At: datasets.Instant(at), Latency: time.Duration(ms * 1e6), Attempt: 1})
		timeouts = append(timeouts, e.Timeout(datasets.Instant(at)).Seconds()*1e3)
	}
	return timeouts
}

func repeat(v float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// RFC 6298 §2 worked through in exact arithmetic (reference, timeouts §1.2); the
// sequences are those of the WebRTC project's tests.
func TestJacobsonVectors(t *testing.T) {
	tests := []struct {
		samples []float64
		want    map[int]float64 // number of the sample, from 1, to its timeout in ms
		within  float64
	}{
		{[]float64{124, 128, 123, 125, 127}, map[int]float64{1: 372, 2: 314.5, 3: 268.3125, 4: 233.0859, 5: 208.8408}, 1e-4},
		{[]float64{124, 402, 728, 89, 126}, map[int]float64{1: 372, 2: 622.75, 3: 1147.1562, 4: 1041.1367, 5: 909.4321}, 1e-4},
		// One freeze after 200 equal samples, then its decay.
		{
			append(append(repeat(10, 200), 400), repeat(10, 28)...),
			map[int]float64{200: 10, 201: 448.75, 202: 393.9, 205: 267.2, 211: 125.4, 220: 44.7, 229: 20.4},
			.05,
		},
	}
	for _, tt := range tests {
		got := observe(estimator(t, "jacobson:g=0s"), 0, tt.samples...)
		for i, want := range tt.want {
			if math.Abs(got[i-1]-want) > tt.within {
				t.Errorf("%v…: timeout %d is %.4f ms, want %v", tt.samples[:2], i, got[i-1], want)
			}
		}
	}
}

// The freeze in closed form: the deviation decays by 3/4 and the mean by 7/8 a sample,
// the deviation fed by what is left of the mean.
func TestJacobsonFreezeInClosedForm(t *testing.T) {
	got := observe(estimator(t, "jacobson:g=0s"), 0, append(append(repeat(10, 200), 400), repeat(10, 28)...)...)[200:]
	mean, deviation := 390.0/8, 390.0/4 // above 10 ms, and of the first sample nothing is left
	for i, timeout := range got {
		if want := 10 + mean + 4*deviation; math.Abs(timeout-want) > 1e-4 {
			t.Fatalf("%d samples after the freeze: %.5f ms, want %.5f", i, timeout, want)
		}
		deviation = deviation*3/4 + mean/4
		mean = mean * 7 / 8
	}
}

func TestJacobsonTimers(t *testing.T) {
	e := estimator(t, "jacobson:initial=1s,max=5s,min=200ms")
	if got := e.Timeout(0); got != time.Second {
		t.Errorf("before any sample %v, want the initial 1s", got)
	}
	silent := adaptive.Observation{Censored: true, Latency: time.Hour}
	for _, want := range []time.Duration{2 * time.Second, 4 * time.Second, 5 * time.Second} { // §5.5, §2.5
		if e.Observe(silent); e.Timeout(0) != want {
			t.Errorf("without an answer %v, want %v", e.Timeout(0), want)
		}
	}
	if got := observe(e, 0, 10)[0]; got != 200 {
		t.Errorf("after an answer of 10 ms %v ms, want the least, 200", got)
	}
	patient := estimator(t, "jacobson:backoff=false")
	if patient.Observe(silent); patient.Timeout(0) != time.Second {
		t.Errorf("without backoff %v, want 1s still", patient.Timeout(0))
	}
	if got := observe(estimator(t, "jacobson:g=3ms"), 0, repeat(10, 300)...)[299]; math.Abs(got-13) > 1e-5 {
		t.Errorf("without deviation %v ms, want the mean and the granularity, 13", got)
	}
}

func TestQuantileEstimator(t *testing.T) {
	e := estimator(t, "quantile:q=90%,window=10s,factor=2,margin=5ms,samples=10,initial=300ms")
	got := observe(e, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	if got[8] != 300 {
		t.Errorf("with 9 of 10 samples %v ms, want the initial 300", got[8])
	}
	// The 90th percentile of 1…10 ms is 9 ms; a bucket may add 1/128.
	if got[9] < 2*9+5 || got[9] > 2*9*(1+1./128)+5 {
		t.Errorf("%v ms, want twice 9 ms and 5", got[9])
	}
	// Ten seconds later they still count, then no longer.
	if at := datasets.Instant(10 * time.Second); e.Timeout(at).Seconds()*1e3 != got[9] {
		t.Errorf("at the window's end %v", e.Timeout(at))
	}
	if at := datasets.Instant(10*time.Second + 1); e.Timeout(at) != 300*time.Millisecond {
		t.Errorf("beyond it %v, want the initial", e.Timeout(at))
	}
}

func TestQuantileEstimatorRanksSilenceHighest(t *testing.T) {
	e := estimator(t, "quantile:q=90%,samples=1,max=7s")
	observe(e, 0, repeat(10, 90)...)
	for range 10 {
		e.Observe(adaptive.Observation{Censored: true, Latency: time.Millisecond})
	}
	if got := e.Timeout(0).Seconds() * 1e3; got < 20 || got > 20*(1+1./128) {
		t.Errorf("with a tenth silent %v ms, want twice 10", got)
	}
	e.Observe(adaptive.Observation{Censored: true, Latency: time.Millisecond})
	if got := e.Timeout(0); got != 7*time.Second {
		t.Errorf("with more than a tenth silent %v, want max: nothing else is known to be enough", got)
	}
}

func TestEstimatorOptionsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"fixed:after=0s":          "fixed: after must be positive",
		"fixed:after=-1s":         "fixed: after must be positive",
		"quantile:q=99.9":         "quantile: q must lie between 0% and 100%",
		"quantile:q=0":            "quantile: q must lie between 0% and 100%",
		"quantile:window=0s":      "quantile: window must be positive",
		"quantile:factor=0":       "quantile: factor must be positive",
		"quantile:samples=0":      "quantile: samples must be at least 1",
		"quantile:min=2m":         "quantile: max must be positive and at least min",
		"jacobson:k=NaN":          "jacobson: k must be positive",
		"jacobson:k=0":            "jacobson: k must be positive",
		"jacobson:g=-1ns":         "jacobson: g must not be negative",
		"jacobson:min=-1s":        "jacobson: min must not be negative",
		"jacobson:initial=0s":     "jacobson: initial must be positive",
		"jacobsen":                `did you mean "jacobson"?`,
		"fixed:after=50":          `option "after": "50"`,
		"quantile:percentile=99%": `option "percentile"`,
	} {
		_, _, err := adaptive.Estimators().Parse("estimator", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
