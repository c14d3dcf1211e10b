package gen_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/gen"
	"github.com/tickmark/tickmark/datasets/spec/spectest"
)

func TestLatencies(t *testing.T) { spectest.Check(t, "latency", gen.Latencies()) }

func latency(tb testing.TB, spec string) gen.Latency {
	tb.Helper()
	l, _, err := gen.Latencies().Parse("latency", spec)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func calls(tb testing.TB, w gen.World) *gen.Calls {
	tb.Helper()
	if w.Pauses.Kind == "" {
		w.Pauses.Kind = "none"
	}
	c, err := w.New()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// The share of values below each quantile is what it should be, within five standard
// deviations of a binomial share: a right generator fails once in a million seeds.
func TestDistributions(t *testing.T) {
	const n = 50_000
	for _, e := range gen.Latencies() {
		if e.Name == "constant" {
			continue
		}
		l := latency(t, e.Name)
		for name, w := range map[string]gen.World{"independent": {Latency: l, Seed: 7}} {
			c := calls(t, w)
			below := map[float64]int{}
			quantiles := []float64{0.01, 0.25, 0.5, 0.9, 0.99, 0.999}
			for i := range n {
				d, _ := c.Next(time.Duration(i) * time.Hour)
				for _, q := range quantiles {
					if d.Seconds() < l.Quantile(q) {
						below[q]++
					}
				}
			}
			for _, q := range quantiles {
				off := float64(below[q])/n - q
				if limit := 5 * math.Sqrt(q*(1-q)/n); math.Abs(off) > limit {
					t.Errorf("%s, %s: %.5f of the values are below p%g: off by %.5f, more than %.5f", e.Name, name, float64(below[q])/n, q*100, off, limit)
				}
			}
		}
	}
}

// autocorrelation of the logarithms, which are normal again.
func autocorrelation(tb testing.TB, w gen.World, n, lag int) float64 {
	tb.Helper()
	c := calls(tb, w)
	x := make([]float64, n)
	mean := 0.0
	for i := range x {
		d, _ := c.Next(time.Duration(i))
		x[i] = math.Log(d.Seconds())
		mean += x[i] / float64(n)
	}
	var at, zero float64
	for i := range x {
		zero += (x[i] - mean) * (x[i] - mean)
		if i+lag < n {
			at += (x[i] - mean) * (x[i+lag] - mean)
		}
	}
	return at / zero
}

// The lag-k autocorrelation of AR(1) is ρ^k; that of a long memory falls as k^(2H−2),
// so that between lags 16 and 256 it falls by 16^(2H−2).
func TestMemory(t *testing.T) {
	l := latency(t, "lognormal")
	const n = 400_000
	for _, lag := range []int{1, 5} {
		got, want := autocorrelation(t, gen.World{Latency: l, Memory: 0.9, Seed: 3}, n, lag), math.Pow(0.9, float64(lag))
		if math.Abs(got-want) > 0.02 {
			t.Errorf("lag %d: %.3f, want %.3f", lag, got, want)
		}
	}
	w := gen.World{Latency: l, Hurst: 0.8, Seed: 3}
	near, far := autocorrelation(t, w, n, 16), autocorrelation(t, w, n, 256)
	if slope := math.Log(far/near) / math.Log(16); math.Abs(slope-(2*0.8-2)) > 0.12 {
		t.Errorf("falls as lag^%.2f, want lag^%.2f (%.3f, %.3f)", slope, 2*0.8-2, near, far)
	}
}

// The share that is lost, and the mean length of a run, of Gilbert and Elliott's chain.
func TestLoss(t *testing.T) {
	c := calls(t, gen.World{Latency: latency(t, "constant"), Loss: 0.02, Burst: 5, Seed: 5})
	const n = 1_000_000
	lost, runs, before := 0, 0, true
	for i := range n {
		_, answered := c.Next(time.Duration(i))
		if !answered {
			lost++
			if before {
				runs++
			}
		}
		before = answered
	}
	if share, length := float64(lost)/n, float64(lost)/float64(runs); math.Abs(share-0.02) > 0.002 || math.Abs(length-5) > 0.3 {
		t.Errorf("%.4f lost, in runs of %.2f", share, length)
	}
}

// 10 ms, once a minute a stop of 400 ms, 2,000 calls a second, 10 minutes: 739 calls a stop
// take more than 50 ms, 0.616 %, and none more than 410 (a worked example of the
// literature's: those that arrive in the first 360 ms of a stop, and the 20 in service).
func TestLesson(t *testing.T) {
	c := calls(t, gen.World{
		Latency: latency(t, "constant:median=10ms"),
		Pauses:  gen.Pauses{Kind: "periodic", Every: time.Minute, Length: 400 * time.Millisecond},
	})
	const interval, n = 500 * time.Microsecond, 1_200_000
	late, worst := map[time.Duration]int{}, time.Duration(0)
	for i := range n {
		due := time.Duration(i) * interval
		d, _ := c.Next(due)
		if d > 50*time.Millisecond {
			late[due/time.Minute]++
		}
		worst = max(worst, d)
	}
	total := 0
	for minute, k := range late {
		total += k
		if k != 739 {
			t.Errorf("pause %d: %d calls over 50 ms, want 739", minute, k)
		}
	}
	if share := 100 * float64(total) / n; worst != 410*time.Millisecond || len(late) != 10 || math.Abs(share-0.616) > 0.0005 {
		t.Errorf("the slowest %v, %d stops, %.4f %% over 50 ms", worst, len(late), share)
	}
}

// The same seed makes the same calls; another makes others; a part that is left out changes
// nothing of the rest.
func TestSeed(t *testing.T) {
	made := func(w gen.World) (all []time.Duration) {
		c := calls(t, w)
		for i := range 1000 {
			d, _ := c.Next(time.Duration(i) * time.Millisecond)
			all = append(all, d)
		}
		return all
	}
	w := gen.World{Latency: latency(t, "pareto"), Seed: 1}
	lossy := w
	lossy.Loss, lossy.Burst = 0.1, 3
	if !slices.Equal(made(w), made(w)) || !slices.Equal(made(w), made(lossy)) {
		t.Error("the same seed makes other calls")
	}
	other := w
	other.Seed = 2
	if slices.Equal(made(w), made(other)) {
		t.Error("two seeds make the same calls")
	}
}

// After GST nothing takes longer than Delta, and before it something does.
func TestGST(t *testing.T) {
	c := calls(t, gen.World{Latency: latency(t, "lognormal"), GST: time.Second, Delta: 30 * time.Millisecond, Seed: 1})
	early, after := time.Duration(0), time.Duration(0)
	for i := range 3000 {
		due := time.Duration(i) * time.Millisecond
		d, _ := c.Next(due)
		if due < time.Second {
			early = max(early, d)
		} else {
			after = max(after, d)
		}
	}
	if early < 500*time.Millisecond || after > 30*time.Millisecond {
		t.Error(early, after)
	}
}

func BenchmarkNext(b *testing.B) {
	for _, e := range gen.Latencies() {
		b.Run(e.Name, func(b *testing.B) {
			c := calls(b, gen.World{Latency: latency(b, e.Name), Pauses: gen.Pauses{Kind: "heap", Every: time.Second, Length: 100 * time.Millisecond}, Loss: 0.01, Burst: 2})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.Next(time.Duration(i) * time.Millisecond)
			}
		})
	}
}
