package analysis

import (
	"math/bits"
	"slices"
	"time"
)

// ranks answers for order statistics, sorting no more than it is asked for: a
// selection leaves its rank in place, and the next one works between its
// neighbours. It holds 8 bytes a value.
type ranks struct {
	values []time.Duration
	placed []int // indices whose value is where sorting would put it, ascending
}

func (r *ranks) add(d time.Duration) {
	r.values = append(r.values, d)
	r.placed = r.placed[:0]
}

func (r *ranks) len() int { return len(r.values) }

// at returns the k-th smallest value, k from 1 to len.
func (r *ranks) at(k int) time.Duration {
	k--
	i, found := slices.BinarySearch(r.placed, k)
	if found {
		return r.values[k]
	}
	lo, hi := 0, len(r.values)
	if i > 0 {
		lo = r.placed[i-1] + 1
	}
	if i < len(r.placed) {
		hi = r.placed[i]
	}
	selectRank(r.values[lo:hi], k-lo)
	r.placed = slices.Insert(r.placed, i, k)
	return r.values[k]
}

// selectRank moves the element of rank k (from 0) to v[k], no greater ones before
// it and no smaller ones behind it. Hoare's selection with a three-way partition,
// because latencies repeat; sorting takes over from pivots that keep falling badly.
func selectRank(v []time.Duration, k int) {
	for rounds := 3 * bits.Len(uint(len(v))); len(v) > 32 && rounds > 0; rounds-- {
		less, equal := partition(v, pivot(v))
		switch {
		case k < less:
			v = v[:less]
		case k < less+equal:
			return
		default:
			v, k = v[less+equal:], k-less-equal
		}
	}
	slices.Sort(v)
}

// partition orders v into smaller than, equal to and greater than pivot, and
// returns how many are in the first two parts.
func partition(v []time.Duration, pivot time.Duration) (less, equal int) {
	i, greater := 0, len(v)
	for i < greater {
		switch d := v[i]; {
		case d < pivot:
			v[less], v[i] = d, v[less]
			less++
			i++
		case d > pivot:
			greater--
			v[i], v[greater] = v[greater], d
		default:
			i++
		}
	}
	return less, i - less
}

// pivot returns the median of three medians of three.
func pivot(v []time.Duration) time.Duration {
	step := len(v) / 9
	at := func(i int) time.Duration { return v[i*step+step/2] }
	return median3(median3(at(0), at(1), at(2)), median3(at(3), at(4), at(5)), median3(at(6), at(7), at(8)))
}

func median3(a, b, c time.Duration) time.Duration { return max(min(a, b), min(max(a, b), c)) }
