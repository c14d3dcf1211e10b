package plots

import (
	"iter"
	"math"
)

// Line joins points in order; a NaN breaks it. Its name stands at its right end.
type Line struct {
	Name  string
	X, Y  []float64
	Role  Role
	Step  bool // Y holds from its X to the next
	Thin  bool
	NoEnd bool // the name is for the data alone
}

// Band fills between Lo and Hi; a NaN breaks it.
type Band struct {
	Name      string
	X, Lo, Hi []float64
	Width     []float64 // of each column around its X; nil joins the points instead
	Role      Role
	Solid     bool // an extent (min to max), not an uncertainty
	Clip      bool // cut off where it leaves the axes, which it does not stretch
}

// Bars are intervals, each for itself: a line from Lo to Hi at X. They do not stretch
// the axes.
type Bars struct {
	Name      string
	X, Lo, Hi []float64
	Role      Role
}

// Points marks each of its points; Labels, if any, has a text for each, or "".
type Points struct {
	Name   string
	X, Y   []float64
	Labels []string
	Role   Role
	Ring   bool // open markers, for what matters less
}

// Rug marks moments that have no value with a short stroke at the upper edge.
type Rug struct {
	Name string
	X    []float64
	Role Role
}

// Censored hatches where nothing can be known: from From to the right edge.
type Censored struct {
	Name string
	From float64
}

// Level is a line across the chart at a height, with its name on it.
type Level struct {
	Name string
	Y    float64
	Role Role
}

func (l *Line) name() string     { return l.Name }
func (b *Band) name() string     { return b.Name }
func (b *Bars) name() string     { return b.Name }
func (p *Points) name() string   { return p.Name }
func (r *Rug) name() string      { return r.Name }
func (c *Censored) name() string { return c.Name }
func (l *Level) name() string    { return l.Name }

func (l *Line) data() iter.Seq[datum] {
	return each(len(l.X), func(i int) datum { return datum{l.X[i], l.Y[i], absent(), absent()} })
}

func (b *Band) data() iter.Seq[datum] {
	return each(len(b.X), func(i int) datum { return datum{b.X[i], absent(), b.Lo[i], b.Hi[i]} })
}

func (b *Bars) data() iter.Seq[datum] {
	return each(len(b.X), func(i int) datum { return datum{b.X[i], absent(), b.Lo[i], b.Hi[i]} })
}

func (p *Points) data() iter.Seq[datum] {
	return each(len(p.X), func(i int) datum { return datum{p.X[i], p.Y[i], absent(), absent()} })
}

func (r *Rug) data() iter.Seq[datum] {
	return each(len(r.X), func(i int) datum { return datum{r.X[i], absent(), absent(), absent()} })
}

func (c *Censored) data() iter.Seq[datum] {
	return each(1, func(int) datum { return datum{c.From, absent(), absent(), absent()} })
}

func (l *Level) data() iter.Seq[datum] {
	return each(1, func(int) datum { return datum{absent(), l.Y, absent(), absent()} })
}

func absent() float64 { return math.NaN() }

func each(n int, at func(int) datum) iter.Seq[datum] {
	return func(yield func(datum) bool) {
		for i := range n {
			if !yield(at(i)) {
				return
			}
		}
	}
}
