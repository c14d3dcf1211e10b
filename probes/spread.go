package probes

import (
	"math"
	"math/bits"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// spread counts durations in buckets that are at most 1/128 of their value wide,
// in fixed memory: what a probe says of its own errors when it ends.
type spread struct {
	buckets [(64 - 7) << 7]int64
	n       int64
	max     time.Duration
}

// add counts d; a negative one counts as 0.
func (s *spread) add(d time.Duration) {
	d = max(d, 0)
	s.buckets[bucket(d)]++
	s.n++
	s.max = max(s.max, d)
}

// join adds what another counted.
func (s *spread) join(other *spread) {
	for i, n := range other.buckets {
		s.buckets[i] += n
	}
	s.n += other.n
	s.max = max(s.max, other.max)
}

// bucket returns where d goes: below 256 ns each has its own, from there on each
// power of two is divided by 128.
func bucket(d time.Duration) int {
	shift := max(0, bits.Len64(uint64(d))-8)
	return shift<<7 + int(d>>shift)
}

// highest returns the largest duration that goes to bucket i.
func highest(i int) time.Duration {
	shift := max(0, i>>7-1)
	return time.Duration(i-shift<<7+1)<<shift - 1
}

// quantile returns the smallest duration that at least the share q of all do not
// exceed, up to 1/128 too high; and 0 of none.
func (s *spread) quantile(q float64) time.Duration {
	rank := max(1, int64(math.Ceil(q*float64(s.n))))
	for i, n := range s.buckets {
		if rank -= n; rank <= 0 {
			return min(highest(i), s.max)
		}
	}
	return s.max
}

// fields writes p50, p99 and the maximum under keys that begin with name.
func (s *spread) fields(name string) []datasets.Field {
	if s.n == 0 {
		return nil
	}
	return []datasets.Field{
		duration(name+"-p50", s.quantile(.5)),
		duration(name+"-p99", s.quantile(.99)),
		duration(name+"-max", s.max),
	}
}
