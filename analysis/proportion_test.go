package analysis_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/tickmark/tickmark/analysis"
)

func limits(t *testing.T, i analysis.Interval) (lo, hi float64) {
	t.Helper()
	_, l, h := i.Cells()
	if l == nil || h == nil {
		t.Fatalf("absent limits in %+v", i)
	}
	return l.(float64), h.(float64)
}

func within(a, b, relative float64) bool {
	return math.Abs(a-b) <= relative*math.Max(math.Abs(a), math.Abs(b))
}

func TestClopperPearsonClosedForms(t *testing.T) {
	// k = 0 and k = n solve in closed form: 1−risk^(1/n) and risk^(1/n).
	for _, n := range []int64{1, 10, 368, 1e6, 1e9} {
		edge := -math.Expm1(math.Log(.025) / float64(n))
		if lo, hi := limits(t, analysis.ClopperPearson(0, n, .95)); lo != 0 || !within(hi, edge, 1e-9) {
			t.Errorf("0 of %d: [%v, %v], want [0, %v]", n, lo, hi, edge)
		}
		if lo, hi := limits(t, analysis.ClopperPearson(n, n, .95)); hi != 1 || !within(1-lo, edge, 1e-6) {
			t.Errorf("all of %d: [%v, %v], want [%v, 1]", n, lo, hi, 1-edge)
		}
	}
}

func TestClopperPearsonKnown(t *testing.T) {
	// R 4.2: binom.test(k, n)$conf.int, to the digits R prints.
	tests := []struct {
		k, n   int64
		lo, hi float64
	}{{1, 10, .002528579, .4450161}, {5, 10, .1870860, .8129140}}
	for _, tt := range tests {
		lo, hi := limits(t, analysis.ClopperPearson(tt.k, tt.n, .95))
		if !within(lo, tt.lo, 2e-7) || !within(hi, tt.hi, 5e-7) {
			t.Errorf("%d of %d: [%v, %v], want [%v, %v]", tt.k, tt.n, lo, hi, tt.lo, tt.hi)
		}
	}
}

// The definition: at each limit the data are as unlikely as the risk says, summed by
// the textbook formula. Swapping successes and failures mirrors the interval.
func TestClopperPearsonByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + r.IntN(120)
		k := r.IntN(n + 1)
		level := .5 + r.Float64()*.4999
		risk := (1 - level) / 2
		lo, hi := limits(t, analysis.ClopperPearson(int64(k), int64(n), level))
		atMost := func(k int, p float64) (sum float64) {
			for i := 0; i <= k; i++ {
				sum += binomialMass(n, i, p)
			}
			return sum
		}
		if got := atMost(k, hi); k < n && !within(got, risk, 1e-9) {
			t.Fatalf("%d of %d at %v: P(B≤k; hi) = %v, want %v", k, n, level, got, risk)
		}
		if got := 1 - atMost(k-1, lo); k > 0 && math.Abs(got-risk) > 1e-11 {
			t.Fatalf("%d of %d at %v: P(B≥k; lo) = %v, want %v", k, n, level, got, risk)
		}
		mirrorLo, mirrorHi := limits(t, analysis.ClopperPearson(int64(n-k), int64(n), level))
		if math.Abs(mirrorLo-(1-hi)) > 1e-13 || math.Abs(mirrorHi-(1-lo)) > 1e-13 {
			t.Fatalf("%d of %d: [%v, %v] is not the mirror of [%v, %v]", n-k, n, mirrorLo, mirrorHi, lo, hi)
		}
	}
}

// The beta quantiles of gonum are an independent way to the same limits, good to
// about 1e-6 at large n.
func TestClopperPearsonAgainstBeta(t *testing.T) {
	for _, c := range [][2]int64{{7404, 1.2e6}, {10, 1e9}, {1e6, 1e9}, {5e8, 1e9}, {999_990, 1e6}, {50_000, 100_000}} {
		k, n := c[0], c[1]
		lo, hi := limits(t, analysis.ClopperPearson(k, n, .95))
		wantLo := mathext.InvRegIncBeta(float64(k), float64(n-k+1), .025)
		wantHi := mathext.InvRegIncBeta(float64(k+1), float64(n-k), .975)
		if !within(lo, wantLo, 1e-6) || !within(hi, wantHi, 1e-6) {
			t.Errorf("%d of %d: [%v, %v], want [%v, %v]", k, n, lo, hi, wantLo, wantHi)
		}
	}
}

func TestClopperPearsonOfCertainty(t *testing.T) {
	if lo, hi := limits(t, analysis.ClopperPearson(3, 10, 1)); lo > 1e-9 || hi < 1-1e-9 {
		t.Errorf("[%v, %v], want everything", lo, hi)
	}
}

func TestClopperPearsonOfNothing(t *testing.T) {
	i := analysis.ClopperPearson(0, 0, .95)
	checkCells(t, "0 of 0", i, nil, nil, nil)
	checkWarning(t, i, "share: needs at least 1 sample, has 0")
}

func TestGarwood(t *testing.T) {
	// R 4.2: poisson.test(k)$conf.int; the first is −ln(.025).
	tests := []struct {
		k      int64
		lo, hi float64
	}{{0, 0, 3.688879454113936}, {1, .02531781, 5.571643}, {10, 4.795389, 18.39036}}
	for _, tt := range tests {
		lo, hi := limits(t, analysis.Garwood(tt.k, .95))
		if !within(lo, tt.lo, 2e-7) || !within(hi, tt.hi, 5e-7) {
			t.Errorf("%d: [%v, %v], want [%v, %v]", tt.k, lo, hi, tt.lo, tt.hi)
		}
	}
	// Ten pauses behind 0.617 % of calls: .30 to 1.13 % (reference, timeouts §0.4).
	lo, hi := limits(t, analysis.Garwood(10, .95).Over(10/.617))
	if math.Abs(lo-.30) > .005 || math.Abs(hi-1.13) > .005 {
		t.Errorf("[%v, %v], want [.30, 1.13]", lo, hi)
	}
}

func TestGarwoodByDefinition(t *testing.T) {
	atMost := func(k int64, mean float64) (sum float64) {
		for i := int64(0); i <= k; i++ {
			lg, _ := math.Lgamma(float64(i + 1))
			sum += math.Exp(float64(i)*math.Log(mean) - mean - lg)
		}
		return sum
	}
	for _, k := range []int64{0, 1, 2, 3, 5, 23, 100, 500, 2000} {
		for _, level := range []float64{.5, .9, .95, .999} {
			lo, hi := limits(t, analysis.Garwood(k, level))
			risk := (1 - level) / 2
			if got := atMost(k, hi); !within(got, risk, 1e-7) {
				t.Errorf("%d at %v: P(N≤k; hi) = %v, want %v", k, level, got, risk)
			}
			if got := 1 - atMost(k-1, lo); k > 0 && math.Abs(got-risk) > 1e-8 {
				t.Errorf("%d at %v: P(N≥k; lo) = %v, want %v", k, level, got, risk)
			}
		}
	}
}

func TestOver(t *testing.T) {
	checkCells(t, "by nothing", analysis.Garwood(3, .95).Over(0), nil, nil, nil)
	if v, _, _ := analysis.Garwood(3, .95).Over(2).Cells(); v != 1.5 {
		t.Errorf("3 over 2 = %v", v)
	}
}
