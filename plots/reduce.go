package plots

import (
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// columnBuckets resolves the median of a column to 1/32 of its value.
const columnBuckets buckets = 5

// reducer brings the values of a series down to the columns of a figure: for each
// the least, the greatest and the median, and how many moments without a value.
type reducer struct {
	origin int64
	ring   *ring[valueColumn, *valueColumn]
}

type valueColumn struct {
	n, marks int64
	min, max int64
	counts   [2 * (64 - columnBuckets) << columnBuckets]uint32
}

// newReducer returns an empty reducer of values around origin: their medians are
// resolved to 1/32 of the distance from it.
func newReducer(origin time.Duration) *reducer {
	return &reducer{int64(origin), newRing[valueColumn]()}
}

// add takes the value v at an instant.
func (r *reducer) add(at datasets.Instant, v time.Duration) {
	c := r.ring.column(at)
	if c.n == 0 {
		c.min, c.max = int64(v), int64(v)
	}
	c.n++
	c.min, c.max = min(c.min, int64(v)), max(c.max, int64(v))
	c.counts[columnBuckets.signed(saturatingSub(int64(v), r.origin))]++
}

// mark takes an event that has an instant but no value, such as a time-out.
func (r *reducer) mark(at datasets.Instant) { r.ring.column(at).marks++ }

func (c *valueColumn) empty() bool { return c.n+c.marks == 0 }

func (c *valueColumn) merge(d *valueColumn) {
	c.marks += d.marks
	switch {
	case d.n == 0:
		return
	case c.n == 0:
		c.min, c.max = d.min, d.max
	}
	c.n += d.n
	c.min, c.max = min(c.min, d.min), max(c.max, d.max)
	for i, k := range &d.counts {
		c.counts[i] += k
	}
}

// median returns the lower median, to the resolution of a bucket.
func (c *valueColumn) median(origin int64) int64 {
	left := (c.n + 1) / 2
	for place, k := range &c.counts {
		if left -= int64(k); left <= 0 {
			return min(max(origin+columnBuckets.signedMiddle(place), c.min), c.max)
		}
	}
	return c.max
}

// align gives r the columns of another reducer, if those are wider.
func (r *reducer) align(with *reducer) {
	if with.ring.shift > r.ring.shift {
		r.ring.widen(with.ring.shift - r.ring.shift)
	}
}

// cell is one column as it is drawn, in seconds.
type cell struct {
	At, Width     float64 // middle and width of the column
	N, Marks      int64
	Min, Mid, Max float64 // NaN without values
}

// cells returns the columns that hold anything, in order.
func (r *reducer) cells() []cell {
	var cells []cell
	r.ring.each(func(at, width float64, c *valueColumn) {
		x := cell{at, width, c.n, c.marks, math.NaN(), math.NaN(), math.NaN()}
		if c.n > 0 {
			x.Min, x.Mid, x.Max = seconds(c.min), seconds(c.median(r.origin)), seconds(c.max)
		}
		cells = append(cells, x)
	})
	return cells
}

func saturatingSub(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b >= 0 && d >= 0:
		return math.MinInt64
	}
	return d
}
