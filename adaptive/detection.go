package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// detection is how long it takes to notice a peer that died at an instant uniform
// over the trace: to the first firing among the attempts due after it.
//
// Between two due times the first firing is the same for every such instant, so the
// time to it is uniform over an interval as long as the gap; the whole is a mixture
// of these, whose distribution function is known exactly at any point from how many
// intervals begin and end before it and where on average they do.
type detection struct {
	started bool
	from    datasets.Instant // begin of the first gap that is not settled
	open    ring[gap]        // gaps whose first firing may still change, its instants rising
	begins  tally            // of the uniform intervals
	ends    tally
	total   time.Duration
}

// gap is a stretch of instants up to end that all have the same first firing.
type gap struct{ end, fires datasets.Instant }

func newDetection() detection { return detection{begins: newTally(), ends: newTally()} }

// send takes an attempt and its timeout; due times do not decrease.
func (d *detection) send(due datasets.Instant, timeout time.Duration) {
	if !d.started {
		d.started, d.from = true, due
		return
	}
	fires := due.Add(timeout)
	for d.open.n > 0 && d.open.back().fires >= fires {
		d.open.drop() // this attempt fires first there too
	}
	begin := d.from
	if d.open.n > 0 {
		begin = d.open.back().end
	}
	if begin < due {
		d.open.push(gap{due, fires})
	}
	for d.open.n > 0 && d.open.front().fires <= due {
		d.settle() // no later attempt can fire before it is due
	}
}

func (d *detection) settle() {
	g := d.open.front()
	d.begins.add(g.fires.Sub(g.end))
	d.ends.add(g.fires.Sub(d.from))
	d.total += g.end.Sub(d.from)
	d.from = g.end
	d.open.pop()
}

// end settles what is open: after the last attempt nothing fires earlier.
func (d *detection) end() {
	for d.open.n > 0 {
		d.settle()
	}
}

// quantile returns the q-quantile in nanoseconds, and false if no time passed
// between two attempts.
func (d *detection) quantile(q float64) (float64, bool) {
	want := q * float64(d.total)
	if d.total <= 0 {
		return 0, false
	}
	var below mixture
	for b := range d.begins {
		begin, end := d.begins.point(b), d.ends.point(b)
		here := below
		here.add(begin, end)
		if top := float64(bucketTop(b)) + 1; here.at(top) < want {
			below = here
			continue
		}
		return below.solve(want, begin, end), true
	}
	return 0, false
}

// mixture is the unnormalised distribution function count·t − sum: the intervals
// that began minus those that ended.
type mixture struct{ count, sum float64 }

func (m *mixture) add(begin, end point) {
	m.count += begin.count - end.count
	m.sum += begin.count*begin.t - end.count*end.t
}

func (m mixture) at(t float64) float64 { return m.count*t - m.sum }

// solve returns where the function, which bends at begin and at end, reaches want.
func (m mixture) solve(want float64, begin, end point) float64 {
	bends := [2]point{begin, {end.t, -end.count}}
	if bends[0].t > bends[1].t {
		bends[0], bends[1] = bends[1], bends[0]
	}
	reached := 0.0
	for _, bend := range bends {
		if bend.count != 0 && m.at(bend.t) < want {
			m.count += bend.count
			m.sum += bend.count * bend.t
			reached = bend.t
		}
	}
	if m.count <= 0 { // flat: rounding alone keeps it from want
		return reached
	}
	return (want + m.sum) / m.count
}
