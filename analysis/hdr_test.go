package analysis_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func newHDR(tb testing.TB, lowest, highest time.Duration, digits int) *analysis.HDR {
	tb.Helper()
	h, err := analysis.NewHDR(lowest, highest, digits)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

func TestHDRQuantiles(t *testing.T) {
	h := newHDR(t, 1, 10_000_000, 3)
	for i := range 1_000_000 {
		if !h.Record(time.Duration(i)) {
			t.Fatalf("%d was not recorded", i)
		}
	}
	// The vector of HdrHistogram's own test suites, C and Go.
	for q, want := range map[float64]time.Duration{
		.5: 500223, .75: 750079, .9: 900095, .95: 950271, .99: 990207, .999: 999423, .9999: 999935,
	} {
		if got, ok := h.Quantile(q); !ok || got != want {
			t.Errorf("quantile %v = %d, %v; want %d", q, got, ok, want)
		}
	}
	if h.Max() != 1000447 || h.Total() != 1_000_000 {
		t.Errorf("max %d, total %d; want 1000447, 1000000", h.Max(), h.Total())
	}
}

func TestHDRRefuses(t *testing.T) {
	h := newHDR(t, 1, time.Second, 2)
	if h.Record(-1) || h.Record(time.Hour) || h.Total() != 0 {
		t.Error("a duration outside was counted")
	}
	if _, ok := h.Quantile(.5); ok {
		t.Error("a quantile of nothing")
	}
	for _, bad := range []struct {
		lowest, highest time.Duration
		digits          int
		want            string
	}{
		{0, time.Second, 3, "lowest 0s"},
		{time.Second, time.Second, 3, "highest 1s"},
		{1, time.Second, 6, "6 significant digits"},
	} {
		if _, err := analysis.NewHDR(bad.lowest, bad.highest, bad.digits); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
}

func TestHDRListing(t *testing.T) {
	h := newHDR(t, 1000, time.Minute, 3)
	for range 3 {
		h.Record(10 * time.Millisecond)
	}
	var b bytes.Buffer
	if err := h.WritePercentiles(&b, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	// A unit of 512 ns and 2,048 of them a bucket put 10 ms under 1,221 × 8,192 ns.
	for _, want := range []string{"Value\tPercentile\tTotalCount\t1/(1-Percentile)", "10.002 ", "Total count    =            3]"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func encode(tb testing.TB, h *analysis.HDR) string {
	tb.Helper()
	text, err := h.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func TestHDREncodingIsRead(t *testing.T) {
	h := newHDR(t, 1, time.Hour, 3)
	for i := range 1000 {
		h.Record(time.Duration(i*i) * time.Microsecond)
	}
	text := encode(t, h)
	if !strings.HasPrefix(text, "HIST") {
		t.Errorf("%.8q…: V2 compressed histograms begin with HIST", text)
	}
	back, err := analysis.DecodeHDR(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0, .5, .99, 1} {
		want, _ := h.Quantile(q)
		if got, _ := back.Quantile(q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
}

// Whatever is decoded is written and read again as the same histogram.
func FuzzDecodeHDR(f *testing.F) {
	h := newHDR(f, 1, 1_000_000, 2)
	h.Record(17)
	h.Record(400_000)
	f.Add(encode(f, h))
	f.Add("HISTFAAAABt4nJNpmSzMwMDAxAABzFCaEUoz")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := analysis.DecodeHDR(text)
		if err != nil {
			return
		}
		again, err := analysis.DecodeHDR(encode(t, h))
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if h.Total() != again.Total() || h.Max() != again.Max() {
			t.Errorf("total %d, max %v became %d, %v", h.Total(), h.Max(), again.Total(), again.Max())
		}
		for _, q := range []float64{0, .5, 1} {
			want, _ := h.Quantile(q)
			if got, _ := again.Quantile(q); got != want {
				t.Errorf("quantile %v: %v became %v", q, want, got)
			}
		}
	})
}

// A latency spectrum holds what was answered, and nothing of what timed out.
func TestLatenciesAsHDR(t *testing.T) {
	var l analysis.Latencies
	for i := range 1000 {
		l.Add(&datasets.Sample{Elapsed: time.Duration(i+1) * time.Millisecond})
	}
	l.Add(&datasets.Sample{Outcome: datasets.TimedOut})
	l.Add(&datasets.Sample{Elapsed: 3 * time.Hour}) // beyond the usual range
	h, err := l.HDR()
	if err != nil {
		t.Fatal(err)
	}
	if h.Total() != 1001 {
		t.Errorf("%d in the histogram, want the 1,001 that were answered", h.Total())
	}
	// The 501st of 1 ms … 1000 ms, to three digits.
	if got, _ := h.Quantile(0.5); (got - 501*time.Millisecond).Abs() > time.Millisecond {
		t.Errorf("p50 %v, want 501ms", got)
	}
}
