package probes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Neighbouring buckets touch, so no duration is lost or counted where it is not.
func TestBucketsTouch(t *testing.T) {
	last := len(spread{}.buckets) - 1
	for i := range last {
		h := highest(i)
		if bucket(h) != i || bucket(h+1) != i+1 {
			t.Fatalf("bucket %d ends at %d, but %d goes to %d and %d to %d", i, h, h, bucket(h), h+1, bucket(h+1))
		}
	}
	if got := bucket(math.MaxInt64); got != last {
		t.Errorf("the longest duration goes to bucket %d of %d", got, last)
	}
}

// The slow twin sorts: rank ⌈q·n⌉ of the sorted durations.
func TestSpreadAgainstSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 99, 100, 101, 5000} {
		var s spread
		all := make([]time.Duration, n)
		for i := range all {
			all[i] = time.Duration(math.Exp(r.Float64() * 30))
			s.add(all[i])
		}
		slices.Sort(all)
		for _, q := range []float64{0, .5, .9, .99, 1} {
			want := all[max(0, int(math.Ceil(q*float64(n)))-1)]
			if got := s.quantile(q); got < want || got-want > want/128 {
				t.Errorf("n=%d q=%v: got %d, want %d or 1/128 more", n, q, got, want)
			}
		}
		if s.max != all[n-1] {
			t.Errorf("n=%d: max %d, want %d", n, s.max, all[n-1])
		}
	}
}

func TestSpreadOfNothing(t *testing.T) {
	var s spread
	if f := s.fields("x"); f != nil || s.quantile(.5) != 0 {
		t.Errorf("got %v and %v of nothing", f, s.quantile(.5))
	}
	s.add(-5)
	if got := s.fields("x")[2].Value; got != "0s" {
		t.Errorf("a negative duration counts as %s, want 0s", got)
	}
	s.add(1_000_003)
	if p50, all := s.quantile(.5), s.quantile(1); p50 != 0 || all != 1_000_003 {
		t.Errorf("p50 %v and p100 %v of -5ns and 1.000003ms, want 0s and the latter", p50, all)
	}
}
