package plots

import (
	"math"
	"time"
)

// fineBuckets tells values apart that differ by 1/2048, so that three digits of a
// quantile are those of the exact one.
const fineBuckets buckets = 11

// histogram counts durations in 0.9 MB, whatever their number. Negative ones count
// as 0.
type histogram struct {
	n        int64
	min, max time.Duration
	counts   []int64
}

func newHistogram() *histogram { return &histogram{counts: make([]int64, fineBuckets.count())} }

func (h *histogram) add(d time.Duration) {
	if h.n == 0 {
		h.min, h.max = d, d
	}
	h.n++
	h.min, h.max = min(h.min, d), max(h.max, d)
	h.counts[fineBuckets.of(int64(max(d, 0)))]++
}

// quantile returns the value of rank ⌈q·n⌉, to the resolution of a bucket.
func (h *histogram) quantile(q float64) time.Duration {
	left := max(int64(math.Ceil(q*float64(h.n)-1e-9)), 1)
	for b, k := range h.counts {
		if left -= k; left <= 0 {
			return min(max(time.Duration(fineBuckets.middle(b)), h.min), h.max)
		}
	}
	return h.max
}
