package analysis_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func TestNeededN(t *testing.T) {
	// ⌈ln(risk)/ln(q)⌉ with risk .025 and .05, worked out apart from this code.
	tests := []struct {
		q             float64
		twoSided, one int
	}{{.9, 36, 29}, {.99, 368, 299}, {.999, 3688, 2995}, {.9999, 36887, 29956}, {.99999, 368887, 299572}, {.5, 6, 5}}
	for _, tt := range tests {
		if got := analysis.NeededN(tt.q, .95); got != tt.twoSided {
			t.Errorf("NeededN(%v) = %d, want %d", tt.q, got, tt.twoSided)
		}
		if got := analysis.NeededN(1-tt.q, .95); got != tt.twoSided {
			t.Errorf("NeededN(%v) = %d, want %d: both ends count", 1-tt.q, got, tt.twoSided)
		}
		if got := analysis.NeededOneSided(tt.q, .95); got != tt.one {
			t.Errorf("NeededOneSided(%v) = %d, want %d", tt.q, got, tt.one)
		}
	}
}

func TestOrderRanks(t *testing.T) {
	// Equal-tailed binomial ranks; R's qbinom and pbinom give the same.
	tests := []struct {
		n        int
		q        float64
		lo, hi   int
		coverage float64
	}{
		{10, .5, 2, 9, .97852},
		{20, .5, 6, 15, .95861},
		{100, .5, 40, 61, .96480},
		{1000, .99, 983, 997, .97609},
		{10000, .999, 9983, 9997, .97546},
		{1000000, .9999, 999880, 999920, .95469},
	}
	for _, tt := range tests {
		lo, hi, coverage := analysis.OrderRanks(tt.n, tt.q, .95)
		if lo != tt.lo || hi != tt.hi || math.Abs(coverage-tt.coverage) > 1e-5 {
			t.Errorf("OrderRanks(%d, %v) = %d, %d, %.6f; want %d, %d, %.5f", tt.n, tt.q, lo, hi, coverage, tt.lo, tt.hi, tt.coverage)
		}
	}
}

// With q = 1/2 the binomial is symmetric, and de Moivre's normal law with continuity
// correction places its ranks to a few millionths of a standard deviation.
func TestOrderRanksOfABillion(t *testing.T) {
	const n, z = 1e9, 1.959963984540054
	lo, hi, coverage := analysis.OrderRanks(n, .5, .95)
	want := int(math.Floor(n/2 - z*math.Sqrt(n)/2 + .5))
	if lo != want || hi != n+1-want {
		t.Errorf("ranks %d, %d; want %d, %d", lo, hi, want, n+1-want)
	}
	if coverage < .95 || coverage > .95+1e-4 {
		t.Errorf("coverage %v: want .95 and at most the probability of two counts above", coverage)
	}
}

func TestOrderRanksReachExactlyTheNeededN(t *testing.T) {
	for _, q := range []float64{.01, .1, .5, .75, .9, .95, .99, .999, .9999, .99999} {
		for _, level := range []float64{.5, .9, .95, .99, .9999} {
			n := analysis.NeededN(q, level)
			if lo, hi, _ := analysis.OrderRanks(n, q, level); lo < 1 || hi > n {
				t.Errorf("q %v level %v: %d samples have ranks %d, %d", q, level, n, lo, hi)
			}
			if lo, hi, _ := analysis.OrderRanks(n-1, q, level); lo >= 1 && hi <= n-1 {
				t.Errorf("q %v level %v: %d samples would do", q, level, n-1)
			}
		}
	}
}

func TestOrderRanksAgainstDirectSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, q, level := 1+r.IntN(200), r.Float64(), .5+r.Float64()/2
		lo, hi, coverage := analysis.OrderRanks(n, q, level)
		risk := (1 - level) / 2
		cumulative := func(k int) float64 { // P(B ≤ k)
			sum := 0.0
			for i := 0; i <= min(k, n); i++ {
				sum += binomialMass(n, i, q)
			}
			return sum
		}
		const slack = 1e-11
		if cumulative(lo-1) > risk+slack || cumulative(lo) < risk-slack {
			t.Fatalf("n %d q %v level %v: lo %d: P(B<lo) %v, one more %v, risk %v", n, q, level, lo, cumulative(lo-1), cumulative(lo), risk)
		}
		if 1-cumulative(hi-1) > risk+slack || hi > 0 && 1-cumulative(hi-2) < risk-slack {
			t.Fatalf("n %d q %v level %v: hi %d: P(B≥hi) %v, risk %v", n, q, level, hi, 1-cumulative(hi-1), risk)
		}
		if want := cumulative(hi-1) - cumulative(lo-1); math.Abs(coverage-want) > slack {
			t.Fatalf("n %d q %v level %v: coverage %v, want %v", n, q, level, coverage, want)
		}
	}
}

// binomialMass is the textbook formula.
func binomialMass(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

func answered(due, latency time.Duration) *datasets.Sample {
	return &datasets.Sample{Due: datasets.Instant(due), Sent: datasets.Instant(due), Elapsed: latency}
}

func timedOut(due time.Duration) *datasets.Sample {
	return &datasets.Sample{Due: datasets.Instant(due), Sent: datasets.Instant(due), Outcome: datasets.TimedOut}
}

func checkCells(t *testing.T, name string, i analysis.Interval, value, lo, hi any) {
	t.Helper()
	v, l, h := i.Cells()
	if v != value || l != lo || h != hi {
		t.Errorf("%s: got %v [%v, %v], want %v [%v, %v]", name, v, l, h, value, lo, hi)
	}
}

func checkWarning(t *testing.T, i analysis.Interval, want string) {
	t.Helper()
	if got := strings.Join(i.Warnings, "\n"); got != want {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

func TestQuantileIsAnOrderStatistic(t *testing.T) {
	var l analysis.Latencies
	for i := range 1000 { // 1…1000 ms, shuffled: 379 has no factor in common with 1000
		l.Add(answered(time.Duration(i), time.Duration((i*379)%1000+1)*time.Millisecond))
	}
	// Ranks of the table above; the value's rank is 1000 × .99.
	checkCells(t, "p99", l.Quantile(.99, .95), .990, .983, .997)
	l.Add(answered(5, 0)) // a later sample is seen although the ranks were found
	if v, _, _ := l.Quantile(.5, .95).Cells(); v != .500 {
		t.Errorf("p50 of 0…1000 = %v, want .5: the 501st", v)
	}
}

func TestQuantileRankIgnoresTheLastBit(t *testing.T) {
	var l analysis.Latencies
	for i := range 100 {
		l.Add(answered(0, time.Duration(i+1)*time.Millisecond))
	}
	// 100 × .07 is 7.000000000000001 in floats.
	if v, _, _ := l.Quantile(.07, .95).Cells(); v != .007 {
		t.Errorf("p7 = %v, want the 7th of 100", v)
	}
}

func TestQuantileIsRefusedBelowTheNeededN(t *testing.T) {
	var l analysis.Latencies
	for i := range 12000 { // 24,887 more, one each 60.274 ms, take 1500.04 s: just over 25 min
		l.Add(answered(time.Duration(i)*60274*time.Microsecond, time.Millisecond))
	}
	i := l.Quantile(.9999, .95)
	checkCells(t, "p99.99", i, nil, nil, nil)
	checkWarning(t, i, "p99.99: needs 36,887 samples, has 12,000 (measure 26 min more at this rate)")
	if i.N != 12000 {
		t.Errorf("n = %d", i.N)
	}
	var none analysis.Latencies
	checkWarning(t, none.Quantile(.5, .95), "p50: needs 6 samples, has 0")
	checkWarning(t, l.Quantile(1, .95), "p100: no number of samples gives it limits")
	checkWarning(t, l.Quantile(.5, 1), "p50: no number of samples gives it limits")
}

func TestQuantileIsAbsentWhereListeningEnded(t *testing.T) {
	l := analysis.Latencies{Listen: datasets.Some(time.Second)}
	for i := range 980 {
		l.Add(answered(time.Duration(i), time.Duration(i+1)*time.Millisecond))
	}
	for range 20 {
		l.Add(timedOut(0))
	}
	for _, out := range []datasets.Outcome{datasets.Refused, datasets.Invalid, datasets.LostLocal} {
		l.Add(&datasets.Sample{Outcome: out})
	}
	// p50 of 1000: ranks 469 and 532 (symmetric about 500.5).
	checkCells(t, "p50", l.Quantile(.5, .95), .5, .469, .532)
	// p97: ranks 960 and 982: the upper limit is a timed-out attempt.
	p97 := l.Quantile(.97, .95)
	lo, hi, _ := analysis.OrderRanks(1000, .97, .95)
	if hi <= 980 {
		t.Fatalf("ranks %d, %d do not reach the timed-out attempts", lo, hi)
	}
	checkCells(t, "p97", p97, .970, float64(lo)/1000, nil)
	checkWarning(t, p97, "p97: no upper limit: 20 of 1,000 attempts were not answered within 1 s: listen longer")
	p99 := l.Quantile(.99, .95)
	checkCells(t, "p99", p99, nil, nil, nil)
	checkWarning(t, p99, "p99: not identifiable: 20 of 1,000 attempts were not answered within 1 s: listen longer")
	if p99.N != 1000 {
		t.Errorf("n = %d, want refused, invalid and lost-local ones left out", p99.N)
	}
}

// The twin tries both extremes of what timed-out attempts may have taken.
func TestQuantileWithManyListensAgainstBothExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		n := 40 + r.IntN(60)
		var l analysis.Latencies
		least, most := make([]float64, n), make([]float64, n)
		for i := range n { // many ties, also of answers with ends of listening
			answer, listen := time.Duration(r.IntN(40)), time.Duration(r.IntN(60))
			if answer <= listen {
				l.Add(answered(0, answer))
				least[i], most[i] = answer.Seconds(), answer.Seconds()
				continue
			}
			l.Listen = datasets.Some(listen)
			l.Add(timedOut(0))
			least[i], most[i] = listen.Seconds()+1e-12, math.Inf(1) // just more than it
		}
		censored := func(s float64) bool { return s != math.Round(s*1e9)/1e9 }
		slices.Sort(least)
		slices.Sort(most)
		q := .2 + .6*r.Float64()
		lo, hi, _ := analysis.OrderRanks(n, q, .9)
		k := int(math.Ceil(float64(n) * q))
		pick := func(x float64, ok bool) any {
			if !ok || math.IsInf(x, 1) {
				return nil
			}
			return x
		}
		checkCells(t, "twin", l.Quantile(q, .9),
			pick(most[k-1], most[k-1] == least[k-1]), pick(least[lo-1], !censored(least[lo-1])), pick(most[hi-1], true))
	}
}

func TestQuantileWithoutListenFallsBackOnTheDeadline(t *testing.T) {
	var l analysis.Latencies
	for i := range 50 {
		l.Add(answered(time.Duration(i), 10*time.Millisecond))
	}
	s := timedOut(51)
	s.Deadline = datasets.Some(20 * time.Millisecond)
	l.Add(s)
	checkCells(t, "deadline", l.Quantile(.5, .95), .010, .010, .010)
	l.Add(timedOut(52)) // known to exceed nothing: it may be the smallest
	i := l.Quantile(.5, .95)
	checkCells(t, "nothing known", i, .010, .010, .010)
	i = l.Quantile(.9, .95)
	checkCells(t, "p90", i, .010, .010, nil)
	checkWarning(t, i, "p90: no upper limit: 2 of 52 attempts were not answered within an unknown time: the trace does not say how long it listened")
}

func TestOneUnansweredAttemptIsOne(t *testing.T) {
	l := analysis.Latencies{Listen: datasets.Some(time.Second)}
	for i := range 6 {
		l.Add(&datasets.Sample{Elapsed: time.Duration(i)})
	}
	l.Add(&datasets.Sample{Outcome: datasets.TimedOut})
	checkWarning(t, l.Quantile(.5, .95), "p50: no upper limit: 1 of 7 attempts was not answered within 1 s: listen longer")
}

// A 95 % interval covers the truth at least 95 % of the time: here the 90th
// percentile of U(0, 1 s), which is .9 s.
func TestQuantileIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const runs = 2000
	covered := 0
	for range runs {
		var l analysis.Latencies
		for range 200 {
			l.Add(answered(0, time.Duration(r.Int64N(1e9))))
		}
		_, lo, hi := l.Quantile(.9, .95).Cells()
		if lo.(float64) <= .9 && .9 <= hi.(float64) {
			covered++
		}
	}
	// Three standard deviations of a binomial count below .95.
	if least := runs*.95 - 3*math.Sqrt(runs*.95*.05); float64(covered) < least {
		t.Errorf("covered %d of %d, want at least %.0f", covered, runs, least)
	}
}

func TestSelectionAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	shapes := map[string]func(i, n int) time.Duration{
		"random":   func(_, _ int) time.Duration { return time.Duration(r.Int64()) },
		"ties":     func(_, _ int) time.Duration { return time.Duration(r.IntN(5)) },
		"constant": func(_, _ int) time.Duration { return 7 },
		"rising":   func(i, _ int) time.Duration { return time.Duration(i) },
		"falling":  func(i, n int) time.Duration { return time.Duration(n - i) },
		"sawtooth": func(i, _ int) time.Duration { return time.Duration(i % 100) },
		"organ":    func(i, n int) time.Duration { return time.Duration(min(i, n-i)) },
	}
	for name, shape := range shapes {
		for _, n := range []int{40, 1000, 20011} {
			var l analysis.Latencies
			sorted := make([]time.Duration, n)
			for i := range n {
				sorted[i] = shape(i, n)
				l.Add(answered(0, sorted[i]))
			}
			slices.Sort(sorted)
			for range 20 {
				q := .2 + .6*r.Float64()
				k := int(math.Ceil(float64(n) * q))
				lo, hi, _ := analysis.OrderRanks(n, q, .9)
				checkCells(t, name, l.Quantile(q, .9), sorted[k-1].Seconds(), sorted[lo-1].Seconds(), sorted[hi-1].Seconds())
			}
		}
	}
}

func TestWait(t *testing.T) {
	for seconds, want := range map[float64]string{
		.2: "1 s", 40: "40 s", 119.5: "120 s", 121: "3 min", 1499: "25 min", 1501: "26 min", 7201: "3 h", 86400 * 3.5: "4 days", 86400 * 4000: "4,000 days",
	} {
		if got := analysis.Wait(seconds); got != want {
			t.Errorf("Wait(%v) = %q, want %q", seconds, got, want)
		}
	}
}

func TestQuantileName(t *testing.T) {
	for q, want := range map[float64]string{.5: "p50", .999: "p99.9", .9999: "p99.99", .99999: "p99.999", .07: "p7"} {
		if got := analysis.QuantileName(q); got != want {
			t.Errorf("QuantileName(%v) = %q, want %q", q, got, want)
		}
	}
}

func BenchmarkQuantilesOfTenMillion(b *testing.B) {
	const n = 10_000_000
	r := rand.New(rand.NewPCG(1, 1))
	values := make([]*datasets.Sample, 1<<16)
	for i := range values {
		values[i] = answered(0, time.Duration(1e7*math.Exp(.5*r.NormFloat64())))
	}
	for b.Loop() {
		b.StopTimer()
		var l analysis.Latencies
		for i := range n {
			s := *values[i&(1<<16-1)]
			s.Elapsed += time.Duration(i)
			l.Add(&s)
		}
		b.StartTimer()
		for _, q := range []float64{.5, .9, .99, .999} {
			if v, _, _ := l.Quantile(q, .95).Cells(); v == nil {
				b.Fatal("refused")
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
}
