package plots

import (
	"math"
	"slices"
)

// The sizes of a chart, in pixels.
type sizes struct {
	width, plot   float64 // whole width, height within the axes
	margin        float64
	heading, body face
	small         face
	labels        float64 // greatest width of the labels at the right
	xWant, yWant  int     // ticks
}

func (t Theme) sizes() sizes {
	s := sizes{
		width: 720, plot: 300, margin: 14, heading: face{18, true}, body: face{13, false}, small: face{11, false},
		labels: 170, xWant: 8, yWant: 6,
	}
	if t.Narrow {
		s = sizes{
			width: 336, plot: 210, margin: 6, heading: face{15, true}, body: face{12, false}, small: face{10.5, false},
			labels: 88, xWant: 5, yWant: 5,
		}
	}
	if t.inline {
		s.margin = 1
	}
	return s
}

func (f face) line() float64 { return math.Round(f.size * 1.35) }

// box is a rectangle; y grows downwards.
type box struct{ left, top, right, bottom float64 }

func (b box) overlaps(c box) bool {
	return b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom
}

func (b box) within(c box) bool {
	return b.left >= c.left && b.right <= c.right && b.top >= c.top && b.bottom <= c.bottom
}

// layout is a chart with a place for everything.
type layout struct {
	sizes
	types                    *typeface
	height                   float64
	title, subtitle, caption []string
	x, y                     scale
	xTicks, yTicks           []float64
	axes                     box
	ends                     []end  // names of lines, at the right of the axes
	names                    []Note // names of lines that end before
}

// end is a label at the right end of a line.
type end struct {
	text string
	role Role
	y    float64 // where the line ends
	at   float64 // baseline of the text
}

func (c *Chart) layout(t Theme, types *typeface) *layout {
	l := &layout{sizes: t.sizes(), types: types}
	room := l.width - 2*l.margin
	l.title = types.wrap(l.heading, c.Title, room)
	l.subtitle = types.wrap(l.body, c.Subtitle, room)
	l.caption = types.wrap(l.small, joinNonEmpty(" · ", c.Caption, c.Spec), room)

	xRange, yRange := c.ranges()
	l.x, l.y = newScale(c.X, xRange), newScale(c.Y, yRange)
	l.xTicks, l.yTicks = l.x.ticks(l.xWant), l.y.ticks(l.yWant)

	l.axes.top = l.margin + float64(len(l.title))*l.heading.line() + float64(len(l.subtitle))*l.body.line() + 10 +
		l.body.line() + 8 // the name of the y axis stands above it
	if c.Empty != "" {
		l.plot /= 2
	}
	l.axes.bottom = l.axes.top + l.plot
	l.axes.left = l.margin + l.widestTick() + 8
	l.axes.right = l.width - l.margin
	l.ends, l.names = c.ends(l)
	if w := l.widestEnd(); w > 0 {
		l.axes.right -= w + 8
	}
	l.x.from, l.x.to = l.axes.left, l.axes.right
	l.y.from, l.y.to = l.axes.bottom, l.axes.top
	if c.hasRug() {
		l.y.to += rugHeight + 4
	}
	l.placeEnds()
	for len(l.xTicks) > 2 && l.xCrowded() {
		l.xWant--
		l.xTicks = l.x.ticks(l.xWant)
	}
	l.height = l.axes.bottom + 2*l.body.line() + 10 + float64(len(l.caption))*l.small.line() + l.margin
	return l
}

func (l *layout) widestTick() float64 {
	widest := 0.0
	for _, v := range l.yTicks {
		widest = max(widest, l.types.width(l.body, l.y.label(v)))
	}
	return widest
}

func (l *layout) widestEnd() float64 {
	widest := 0.0
	for _, e := range l.ends {
		widest = max(widest, l.types.width(l.body, e.text))
	}
	return widest
}

// xCrowded reports whether labels below the x axis would touch.
func (l *layout) xCrowded() bool {
	right := math.Inf(-1)
	for _, v := range l.xTicks {
		middle, half := l.x.at(v), l.types.width(l.body, l.x.label(v))/2
		if middle-half < right+8 {
			return true
		}
		right = middle + half
	}
	return false
}

func (c *Chart) hasRug() bool {
	return slices.ContainsFunc(c.Layers, func(l Layer) bool {
		_, ok := l.(*Rug)
		return ok
	})
}
