package adaptive

import (
	"math"
	"math/bits"
	"time"
)

// Durations are sorted into buckets whose width is at most 1/128 of what they hold:
// a nanosecond each up to 255 ns, then 128 to each doubling.
const (
	bucketBits = 7
	buckets    = (63-bucketBits)<<bucketBits + 1<<bucketBits
)

// bucketOf returns the bucket that d lies in; negative durations count as 0.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	shift := max(bits.Len64(v)-bucketBits-1, 0)
	return shift<<bucketBits + int(v>>shift)
}

// bucketTop returns the greatest duration in a bucket.
func bucketTop(bucket int) time.Duration {
	shift := max(bucket>>bucketBits-1, 0)
	return time.Duration((uint64(bucket-shift<<bucketBits)+1)<<shift - 1)
}

// tally counts durations by bucket and keeps each bucket's sum, so that its mean is
// exact wherever it matters.
type tally struct {
	piles    []pile
	n        int64
	min, max time.Duration
}

type pile struct {
	n   int64
	sum float64
}

func newTally() tally {
	return tally{piles: make([]pile, buckets), min: math.MaxInt64}
}

func (t *tally) add(d time.Duration) {
	p := &t.piles[bucketOf(d)]
	p.n++
	p.sum += float64(d)
	t.n++
	t.min, t.max = min(t.min, d), max(t.max, d)
}

// quantile returns the q-quantile in nanoseconds as the mean of its bucket, and false
// of an empty tally.
func (t *tally) quantile(q float64) (float64, bool) {
	rank := max(int64(math.Ceil(q*float64(t.n))), 1)
	for _, p := range t.piles {
		if rank -= p.n; rank <= 0 && p.n > 0 {
			mean := p.sum / float64(p.n)
			return math.Min(math.Max(mean, float64(t.min)), float64(t.max)), true
		}
	}
	return 0, false
}

// mean returns the mean in nanoseconds, and false of an empty tally.
func (t *tally) mean() (float64, bool) {
	sum := 0.0
	for _, p := range t.piles {
		sum += p.sum
	}
	return sum / float64(t.n), t.n > 0
}
