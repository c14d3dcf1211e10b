package plots

import "github.com/tickmark/tickmark/datasets"

// ringColumns is how many columns a ring has. Between half of them and all are in
// use once a series is longer than that: one for every one or two pixels.
const ringColumns = 512

// mergeable is a summary of samples that can take another one in; the zero summary
// is of none.
type mergeable[C any] interface {
	*C
	merge(*C)
	empty() bool
}

// ring brings a series of any length down to columns, in one pass and constant
// memory, without knowing its range. A column covers 2^shift ns, aligned to
// multiples of that; when the series outgrows the ring, neighbours are merged and
// columns are twice as wide. So the columns do not depend on the order of samples.
type ring[C any, P mergeable[C]] struct {
	shift       uint
	first, last int64 // numbers of the outermost columns in use
	used        bool
	now, spare  []C // a column's place is its number modulo ringColumns
}

func newRing[C any, P mergeable[C]]() *ring[C, P] {
	return &ring[C, P]{now: make([]C, ringColumns), spare: make([]C, ringColumns)}
}

// column returns the column of an instant, to be added to before the next call.
func (r *ring[C, P]) column(at datasets.Instant) P {
	number := int64(at) >> r.shift
	if !r.used {
		r.used, r.first, r.last = true, number, number
	}
	if number < r.first || number > r.last {
		number = r.reach(int64(at))
	}
	return &r.now[number&(ringColumns-1)]
}

// reach makes room for a column out of the range in use and returns its number.
func (r *ring[C, P]) reach(at int64) int64 {
	first, last := min(r.first, at>>r.shift), max(r.last, at>>r.shift)
	var wider uint
	for uint64(last>>wider)-uint64(first>>wider) >= ringColumns {
		wider++
	}
	r.widen(wider)
	r.first, r.last = first>>wider, last>>wider
	return at >> r.shift
}

// widen makes columns 2^by times as wide.
func (r *ring[C, P]) widen(by uint) {
	if by == 0 || !r.used {
		return
	}
	var none C
	for i := range r.last - r.first + 1 {
		number := r.first + i
		from := P(&r.now[number&(ringColumns-1)])
		if from.empty() {
			continue
		}
		to := P(&r.spare[number>>by&(ringColumns-1)])
		if to.empty() {
			*to = *from
		} else {
			to.merge(from)
		}
		*from = none
	}
	r.now, r.spare = r.spare, r.now
	r.first, r.last, r.shift = r.first>>by, r.last>>by, r.shift+by
}

// each calls f with the middle of each column that is not empty, in order, and with
// the width of all, in seconds.
func (r *ring[C, P]) each(f func(at, width float64, c P)) {
	if !r.used {
		return
	}
	width := int64(1) << r.shift
	for i := range r.last - r.first + 1 {
		number := r.first + i
		if c := P(&r.now[number&(ringColumns-1)]); !c.empty() {
			f(seconds(number<<r.shift+width/2), seconds(width), c)
		}
	}
}

func seconds[T ~int64](ns T) float64 { return float64(ns) / 1e9 }
