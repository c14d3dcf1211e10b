package plots

import (
	"math"
	"slices"
)

// ends returns the labels that stand at the right of the axes: the names of the
// lines that reach there. The others are named where they end, by a note.
func (c *Chart) ends(l *layout) (ends []end, notes []Note) {
	for _, layer := range c.Layers {
		var role Role
		x, y, ok := last(layer)
		switch v := layer.(type) {
		case *Line:
			role, ok = v.Role, ok && !v.NoEnd
		case *Level:
			role, x = v.Role, l.x.hi
		default:
			continue
		}
		switch {
		case layer.name() == "" || !ok:
		case l.x.share(x) > 0.97:
			ends = append(ends, end{text: l.types.fit(l.body, layer.name(), l.labels), role: role, y: y})
		default:
			notes = append(notes, Note{X: x, Y: y, Text: layer.name(), Role: role, Must: true})
		}
	}
	return ends, notes
}

// last returns the last point of a layer that has a y.
func last(layer Layer) (x, y float64, ok bool) {
	for d := range layer.data() {
		if !math.IsNaN(d.y) {
			x, y, ok = d.x, d.y, true
		}
	}
	return x, y, ok
}

// placeEnds moves the labels at the right apart, as little as may be: from the
// bottom up each is at least a line above the one before, then back down from the
// top edge.
func (l *layout) placeEnds() {
	slices.SortStableFunc(l.ends, func(a, b end) int { return int(math.Copysign(1, l.y.at(b.y)-l.y.at(a.y))) })
	gap, limit := l.body.line(), l.axes.bottom
	for i := range l.ends {
		e := &l.ends[i]
		e.at = min(l.y.at(e.y), limit)
		limit = e.at - gap
	}
	limit = l.axes.top + gap/2
	for i := len(l.ends) - 1; i >= 0; i-- {
		e := &l.ends[i]
		e.at = max(e.at, limit)
		limit = e.at + gap
	}
}

// place finds room for a text at a point, keeps it free, and returns the start of its
// baseline: off points, other texts and lines, or if that cannot be and it need not
// be near, a little further away and off the first two. It returns false and the best
// place it knows if there is none.
func (p *panel) place(at point, f face, text string, near bool) (point, bool) {
	const distance = 7.0
	w, h := p.types.width(f, text), f.size
	right, left, above, below := at.x+distance, at.x-distance-w, at.y-distance, at.y+distance+h*0.75
	middle := at.y + h*0.35
	places := []point{
		{right, middle},
		{right, above},
		{right, below},
		{left, middle},
		{left, above},
		{left, below},
		{at.x - w/2, above},
		{at.x - w/2, below},
		{right, above - h},
		{left, above - h},
		{right, below + h},
		{left, below + h},
	}
	tries := []func(box) bool{p.clear, p.free}
	if near {
		tries, places = tries[:1], places[:6]
	}
	for _, free := range tries {
		for _, q := range places {
			if b := textBox(q, w, f); b.within(p.axes) && free(b) {
				p.taken = append(p.taken, b)
				return q, true
			}
		}
	}
	return point{max(left, p.axes.left+2), max(above, p.axes.top+h)}, false
}

func textBox(at point, width float64, f face) box {
	return box{at.x - 2, at.y - f.size*0.85, at.x + width + 2, at.y + f.size*0.3}
}

func (p *panel) free(b box) bool { return !slices.ContainsFunc(p.taken, b.overlaps) }

// clear reports whether b is free and no line runs through it.
func (p *panel) clear(b box) bool {
	return p.free(b) && !slices.ContainsFunc(p.lines, func(run []point) bool {
		for i := 1; i < len(run); i++ {
			if b.crossed(run[i-1], run[i]) {
				return true
			}
		}
		return false
	})
}

// crossed reports whether the straight line from p to q has a point in b.
func (b box) crossed(p, q point) bool {
	from, to := 0.0, 1.0
	for _, side := range [][2]float64{
		{p.x - q.x, p.x - b.left},
		{q.x - p.x, b.right - p.x},
		{p.y - q.y, p.y - b.top},
		{q.y - p.y, b.bottom - p.y},
	} {
		speed, room := side[0], side[1]
		switch {
		case speed == 0 && room < 0:
			return false
		case speed < 0:
			from = max(from, room/speed)
		case speed > 0:
			to = min(to, room/speed)
		}
	}
	return from <= to
}

// halo draws a text on a ground that keeps it legible over lines.
func (p *panel) halo(at point, f face, r Role, text string) {
	b := textBox(at, p.types.width(f, text), f)
	p.fill(surface, 0.8, point{b.left, b.top}, point{b.right, b.top}, point{b.right, b.bottom}, point{b.left, b.bottom})
	p.text(at, f, r, text)
}
