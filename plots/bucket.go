package plots

import "math/bits"

// buckets is a log-linear division of the whole numbers from 0: each of the first
// 2^b has a bucket to itself, above that each power of two is cut into 2^b, so that
// a bucket is at most 1/2^b of its values wide.
type buckets uint

// count returns how many buckets there are.
func (b buckets) count() int { return int(64-b) << b }

// of returns the bucket of v, which must not be negative.
func (b buckets) of(v int64) int {
	u := uint64(v)
	e := max(bits.Len64(u)-int(b)-1, 0)
	return e<<b + int(u>>e)
}

// bounds returns the least and the greatest value of a bucket.
func (b buckets) bounds(bucket int) (lo, hi int64) {
	if bucket < 2<<b {
		return int64(bucket), int64(bucket)
	}
	e := bucket>>b - 1
	m := int64(bucket&(1<<b-1) | 1<<b)
	return m << e, m<<e + 1<<e - 1
}

func (b buckets) middle(bucket int) int64 {
	lo, hi := b.bounds(bucket)
	return lo + (hi-lo)/2
}

// signed returns the place of any value among twice the buckets, in the order of
// the values: those below zero first.
func (b buckets) signed(v int64) int {
	if v < 0 {
		return b.count() - 1 - b.of(^v)
	}
	return b.count() + b.of(v)
}

func (b buckets) signedMiddle(place int) int64 {
	if place < b.count() {
		return ^b.middle(b.count() - 1 - place)
	}
	return b.middle(place - b.count())
}
