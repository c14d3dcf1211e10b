package plots

import (
	"io"
	"math"
)

// WriteSVG writes the chart as an SVG whose text stays text.
func (c *Chart) WriteSVG(w io.Writer, t Theme) error {
	s, width, err := c.render(t, false)
	if err != nil {
		return err
	}
	return writeSVG(w, s, svgHead{id: "figure", title: c.Title, desc: c.Desc, width: width, height: s.height, ground: true})
}

// InlineSVG returns the chart as an SVG element to stand in an HTML page, where id
// must be unique. It has no ground of its own, and its colours are CSS custom
// properties (--tm-accent, --tm-ink, …; the light theme's where a page sets none).
func (c *Chart) InlineSVG(id string, narrow bool) (string, error) {
	s, width, err := c.render(Theme{Narrow: narrow, inline: true}, false)
	if err != nil {
		return "", err
	}
	return inlineSVG(s, svgHead{id: id, title: c.Title, desc: c.Desc, width: width, height: s.height})
}

// WritePNG writes the chart as a PNG with two dots for each pixel of the SVG.
func (c *Chart) WritePNG(w io.Writer, t Theme) error {
	s, _, err := c.render(t, true)
	if err != nil {
		return err
	}
	return s.writeTo(w)
}

func (c *Chart) render(t Theme, raster bool) (*sheet, float64, error) {
	types, err := newTypeface()
	if err != nil {
		return nil, 0, err
	}
	l := c.layout(t, types)
	p := &panel{sheet: newSheet(t, types, l.width, l.height, raster), layout: l}
	p.drawHead()
	if c.Empty != "" {
		p.drawEmpty(c.Empty)
	} else {
		p.drawGrid()
		p.reserve(c)
		for _, layer := range c.Layers {
			layer.draw(p)
		}
		p.drawAxes()
		p.drawEnds()
		p.drawNotes(c)
	}
	p.drawFoot()
	return p.sheet, l.width, nil
}

func (p *panel) drawHead() {
	y := p.margin
	for _, line := range p.title {
		y += p.heading.line()
		p.text(point{p.margin, y - 5}, p.heading, ink, line)
	}
	for _, line := range p.subtitle {
		y += p.body.line()
		p.text(point{p.margin, y - 2}, p.body, muted, line)
	}
}

func (p *panel) drawEmpty(why string) {
	lines := p.types.wrap(p.body, why, (p.width-2*p.margin)*0.7)
	y := (p.axes.top+p.axes.bottom)/2 - float64(len(lines)-1)*p.body.line()/2
	for _, line := range lines {
		p.text(point{(p.width - p.types.width(p.body, line)) / 2, y}, p.body, ink, line)
		y += p.body.line()
	}
}

func (p *panel) drawGrid() {
	k := pen{role: grid, width: 1}
	for _, v := range p.yTicks {
		p.stroke(k, point{p.axes.left, p.y.at(v)}, point{p.axes.right, p.y.at(v)})
	}
	if !p.x.axis.Log {
		return
	}
	for _, v := range p.xTicks {
		p.stroke(k, point{p.x.at(v), p.axes.top}, point{p.x.at(v), p.axes.bottom})
	}
}

func (p *panel) drawAxes() {
	f, k := p.body, pen{role: muted, width: 1}
	p.text(point{p.margin, p.axes.top - 10}, f, muted, p.y.title())
	for _, v := range p.yTicks {
		label := p.y.label(v)
		p.text(point{p.axes.left - 8 - p.types.width(f, label), p.y.at(v) + f.size*0.35}, f, muted, label)
	}
	p.stroke(k, point{p.axes.left, p.axes.bottom}, point{p.axes.right, p.axes.bottom})
	for _, v := range p.xTicks {
		x, label := p.x.at(v), p.x.label(v)
		p.stroke(k, point{x, p.axes.bottom}, point{x, p.axes.bottom + 4})
		w := p.types.width(f, label)
		left := min(max(x-w/2, p.margin), p.width-p.margin-w)
		p.text(point{left, p.axes.bottom + f.line()}, f, muted, label)
	}
	name := p.x.title()
	p.text(point{p.axes.right - p.types.width(f, name), p.axes.bottom + 2*f.line()}, f, muted, name)
}

func (p *panel) drawEnds() {
	f := p.body
	for _, e := range p.ends {
		y := p.y.at(e.y)
		if math.Abs(y-e.at) > f.size/2 {
			p.stroke(pen{role: Context, width: 0.8}, point{p.axes.right + 1, y}, point{p.axes.right + 6, e.at})
		}
		p.text(point{p.axes.right + 8, e.at + f.size*0.35}, f, textRole(e.role), e.text)
	}
}

// reserve keeps labels off the points, and names the marks at the upper edge.
func (p *panel) reserve(c *Chart) {
	f, right := p.body, p.axes.right
	for _, layer := range c.Layers {
		switch v := layer.(type) {
		case *Points:
			for i := range v.X {
				if q, ok := p.at(v.X[i], v.Y[i]); ok {
					p.taken = append(p.taken, box{q.x - 4, q.y - 4, q.x + 4, q.y + 4})
				}
			}
		case *Rug:
			name := p.types.fit(f, v.Name, (p.axes.right-p.axes.left)/2)
			right -= p.types.width(f, name)
			p.text(point{right, p.axes.top - 10}, f, ink, name)
			right -= 16
			p.taken = append(p.taken, box{p.axes.left, p.axes.top, p.axes.right, p.axes.top + 10})
		}
	}
}

// drawNotes finds room for what must be said first.
func (p *panel) drawNotes(c *Chart) {
	f := p.body
	for _, n := range append(p.names, c.Notes...) {
		p.note(n, f, false)
	}
	for _, layer := range c.Layers {
		v, ok := layer.(*Points)
		if !ok {
			continue
		}
		for i, label := range v.Labels {
			p.note(Note{X: v.X[i], Y: v.Y[i], Text: label, Role: v.Role}, f, true)
		}
	}
}

func (p *panel) note(n Note, f face, near bool) {
	room := 0.5 * (p.axes.right - p.axes.left)
	if n.Must {
		room *= 1.3
	}
	text := p.types.fit(f, n.Text, room)
	q, ok := p.at(n.X, n.Y)
	if !ok || text == "" {
		return
	}
	if at, ok := p.place(q, f, text, near); ok || n.Must {
		p.halo(at, f, textRole(n.Role), text)
	}
}

func (p *panel) drawFoot() {
	y := p.axes.bottom + 2*p.body.line() + 10
	for _, line := range p.caption {
		y += p.small.line()
		p.text(point{p.margin, y - 2}, p.small, muted, line)
	}
}
