package plots

import (
	"iter"
	"math"
)

// Chart is a figure as data.
type Chart struct {
	Title    string // the finding, with its number
	Subtitle string // what is shown and from how much
	X, Y     Axis
	Layers   []Layer // drawn in order, the first one undermost
	Notes    []Note  // words at a place within the figure
	Caption  string  // source and absolute start, in small type
	Spec     string  // canonical spec of the figure, added to the caption
	Desc     string  // what a reader who cannot see the figure needs to know
	Empty    string  // why there is nothing to draw; shown in its place
}

// Axis is one axis of a chart; its numbers are in Unit, a base unit.
type Axis struct {
	Label string // "Round trip"
	Unit  string // "s", "ratio", "count", "" as of package unit
	Log   bool   // numbers that are not positive are drawn at the lower end
	Clock bool   // a time since the start: ticks in seconds, minutes, hours or days
	// Include lists numbers that the axis covers beside the data.
	Include []float64
}

// Layer is one thing drawn within the axes.
type Layer interface {
	name() string
	// data returns the numbers that are drawn, in base units.
	data() iter.Seq[datum]
	draw(p *panel)
}

// datum is one row of a layer's data: what it lacks is NaN.
type datum struct{ x, y, lo, hi float64 }

// Note is a text at a point of a chart. It is left out where it finds no room,
// unless it Must be there.
type Note struct {
	X, Y float64
	Text string
	Role Role
	Must bool
}

// trueRange is the range of the data on one axis, before any margin.
type trueRange struct{ lo, hi float64 }

func emptyRange() trueRange { return trueRange{math.Inf(1), math.Inf(-1)} }

func (r trueRange) empty() bool { return !(r.lo <= r.hi) }

func (r *trueRange) add(v float64, log bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 {
		return
	}
	r.lo, r.hi = min(r.lo, v), max(r.hi, v)
}

// ranges returns what the layers occupy.
func (c *Chart) ranges() (x, y trueRange) {
	x, y = emptyRange(), emptyRange()
	for _, l := range c.Layers {
		if !stretches(l) {
			continue
		}
		for d := range l.data() {
			x.add(d.x, c.X.Log)
			for _, v := range []float64{d.y, d.lo, d.hi} {
				y.add(v, c.Y.Log)
			}
		}
	}
	for _, v := range c.X.Include {
		x.add(v, c.X.Log)
	}
	for _, v := range c.Y.Include {
		y.add(v, c.Y.Log)
	}
	return x, y
}

// stretches reports whether the axes have to hold all of a layer.
func stretches(l Layer) bool {
	switch v := l.(type) {
	case *Band:
		return !v.Clip
	case *Bars:
		return false
	}
	return true
}
