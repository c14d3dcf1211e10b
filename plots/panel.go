package plots

import (
	"math"
	"slices"
)

// panel is the sheet with the axes in place: what a layer draws on.
type panel struct {
	*sheet
	*layout
	taken []box     // where no label may go
	lines [][]point // what a label should not lie on
}

// at returns the pixel of a point, and false if it has none.
func (p *panel) at(x, y float64) (point, bool) {
	return point{p.x.at(x), p.y.at(y)}, !math.IsNaN(x) && !math.IsNaN(y)
}

func (l *Line) draw(p *panel) {
	k := pen{role: l.Role, width: 1.8, dash: dash(l.Role)}
	if l.Thin {
		k.width = 1.1
	}
	var run []point
	for i := range l.X {
		q, ok := p.at(l.X[i], l.Y[i])
		if !ok {
			p.stroke(k, run...)
			p.lines = append(p.lines, run)
			run = nil
			continue
		}
		if l.Step && len(run) > 0 {
			run = append(run, point{q.x, run[len(run)-1].y})
		}
		run = append(run, q)
	}
	p.stroke(k, run...)
	p.lines = append(p.lines, run)
}

func (b *Band) draw(p *panel) {
	var upper, lower []point
	for i := range b.X {
		gap := math.IsNaN(b.Lo[i]) || math.IsNaN(b.Hi[i])
		if gap || b.gapBefore(i) {
			p.between(b, upper, lower)
			upper, lower = upper[:0], lower[:0]
		}
		if gap {
			continue
		}
		hi, lo := atLeast(p.y.at(b.Hi[i]), p.y.at(b.Lo[i]), 1)
		for _, x := range b.sides(i) {
			upper = append(upper, point{p.x.at(x), hi})
			lower = append(lower, point{p.x.at(x), lo})
		}
	}
	p.between(b, upper, lower)
}

// between fills the polygon whose upper and lower edges run from left to right.
func (p *panel) between(b *Band, upper, lower []point) {
	if len(upper) < 2 {
		return
	}
	share := 0.22
	switch {
	case b.Solid && b.Role == Context:
		share = 0.55
	case b.Solid:
		share = 0.9
	}
	corners := slices.Clone(upper)
	for _, q := range slices.Backward(lower) {
		corners = append(corners, q)
	}
	p.fill(b.Role, share, corners...)
}

// sides returns the x of the corners of the i-th part of the band.
func (b *Band) sides(i int) []float64 {
	if b.Width == nil {
		return []float64{b.X[i]}
	}
	return []float64{b.X[i] - b.Width[i]/2, b.X[i] + b.Width[i]/2}
}

// gapBefore reports whether column i does not touch the one before.
func (b *Band) gapBefore(i int) bool {
	if b.Width == nil || i == 0 {
		return false
	}
	return b.X[i]-b.Width[i]/2-(b.X[i-1]+b.Width[i-1]/2) > b.Width[i]*0.01
}

// atLeast moves two pixels apart so that what is between them can be seen.
func atLeast(top, bottom, height float64) (float64, float64) {
	if missing := height - (bottom - top); missing > 0 {
		return top - missing/2, bottom + missing/2
	}
	return top, bottom
}

func (b *Bars) draw(p *panel) {
	for i := range b.X {
		if top, ok := p.at(b.X[i], b.Hi[i]); ok {
			ends := []point{top, {top.x, p.y.at(b.Lo[i])}}
			p.stroke(pen{role: b.Role, width: 1.2}, ends...)
			p.lines = append(p.lines, ends)
		}
	}
}

func (p *Points) draw(on *panel) {
	const radius = 3.6
	for i := range p.X {
		q, ok := on.at(p.X[i], p.Y[i])
		if !ok {
			continue
		}
		on.fill(p.Role, 1, marker(q, radius, p.Role)...)
		if p.Ring {
			on.fill(surface, 1, marker(q, radius-1.4, p.Role)...)
		}
	}
}

// marker returns the corners of a role's marker: a circle, or where kinds have to
// be told apart a triangle, a diamond, a square.
func marker(at point, radius float64, r Role) []point {
	corners, turn := 16, 0.0
	switch r {
	case Alarm:
		corners, turn, radius = 3, -math.Pi/2, radius*1.3
	case Third:
		corners, radius = 4, radius*1.2
	case Fourth:
		corners, turn, radius = 4, math.Pi/4, radius*1.2
	default:
	}
	points := make([]point, corners)
	for i := range points {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
		points[i] = point{at.x + radius*cos, at.y + radius*sin}
	}
	return points
}

// rugHeight is how long the strokes at the upper edge are, in pixels.
const rugHeight = 9

func (r *Rug) draw(p *panel) {
	for _, v := range r.X {
		x := p.x.at(v)
		p.stroke(pen{role: r.Role, width: 1.2}, point{x, p.axes.top}, point{x, p.axes.top + rugHeight})
	}
}

func (l *Level) draw(p *panel) {
	y := p.y.at(l.Y)
	p.stroke(pen{role: l.Role, width: 1.2, dash: []float64{4, 3}}, point{p.axes.left, y}, point{p.axes.right, y})
}

func (c *Censored) draw(p *panel) {
	const spacing = 8
	b := box{p.x.at(c.From), p.axes.top, p.axes.right, p.axes.bottom}
	k := pen{role: Context, width: 0.8}
	for sum := b.left + b.top + spacing; sum < b.right+b.bottom; sum += spacing {
		from, to := max(b.left, sum-b.bottom), min(b.right, sum-b.top)
		p.stroke(k, point{from, sum - from}, point{to, sum - to})
	}
	p.stroke(k, point{b.left, b.top}, point{b.left, b.bottom})
	if f := p.body; p.types.width(f, c.Name) < b.right-b.left-12 {
		p.halo(point{b.left + 6, b.top + f.line()}, f, muted, c.Name)
	}
}
