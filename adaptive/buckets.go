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
	bucket, _ := place(d)
	return bucket
}

// place returns the bucket that d lies in and how far from its bottom.
func place(d time.Duration) (bucket int, above uint64) {
	v := uint64(max(d, 0))
	shift := max(bits.Len64(v)-bucketBits-1, 0)
	return shift<<bucketBits + int(v>>shift), v & (1<<shift - 1)
}

// bucketTop returns the greatest duration in a bucket.
func bucketTop(bucket int) time.Duration {
	shift := max(bucket>>bucketBits-1, 0)
	return time.Duration((uint64(bucket-shift<<bucketBits)+1)<<shift - 1)
}

// tally counts durations by bucket and keeps what those of a bucket add up to above
// its bottom, so that their mean is exact. What overflows first is the bucket of a
// billion durations of two hours.
type tally []pile

type pile struct{ n, above uint64 }

func newTally() tally { return make(tally, buckets) }

func (t tally) add(d time.Duration) {
	bucket, above := place(d)
	p := &t[bucket]
	p.n++
	p.above += above
}

// n returns how many durations there are.
func (t tally) n() int64 {
	n := uint64(0)
	for _, p := range t {
		n += p.n
	}
	return int64(n)
}

// quantile returns the q-quantile in nanoseconds as the mean of its bucket, and false
// of an empty tally.
func (t tally) quantile(q float64) (float64, bool) {
	rank := max(int64(math.Ceil(q*float64(t.n()))), 1)
	for b, p := range t {
		if rank -= int64(p.n); rank <= 0 && p.n > 0 {
			return t.point(b).t, true
		}
	}
	return 0, false
}

// mean returns the mean in nanoseconds, and false of an empty tally.
func (t tally) mean() (float64, bool) {
	sum, n := 0.0, 0.0
	for b := range t {
		at := t.point(b)
		sum += at.t * at.count
		n += at.count
	}
	return sum / n, n > 0
}

// point is so many durations, of t nanoseconds on average.
type point struct{ t, count float64 }

// point returns what a bucket holds.
func (t tally) point(bucket int) point {
	p := t[bucket]
	if p.n == 0 {
		return point{}
	}
	bottom := float64(bucketTop(bucket-1) + 1)
	return point{bottom + float64(p.above)/float64(p.n), float64(p.n)}
}
