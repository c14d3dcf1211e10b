package plots

import (
	"math"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// offsetColumn keeps of its exchanges the one with the tightest bound.
type offsetColumn struct {
	n, bad   int64
	least    float64 // θ, seconds
	greatest float64
	key      float64
	best     analysis.OffsetBound
}

func (c *offsetColumn) empty() bool { return c.n+c.bad == 0 }

func (c *offsetColumn) merge(d *offsetColumn) {
	c.bad += d.bad
	if d.n == 0 {
		return
	}
	if c.n == 0 || d.key < c.key {
		c.key, c.best = d.key, d.best
	}
	c.span(d.least, d.greatest)
	c.n += d.n
}

func (c *offsetColumn) span(least, greatest float64) {
	if c.n == 0 {
		c.least, c.greatest = least, greatest
	}
	c.least, c.greatest = min(c.least, least), max(c.greatest, greatest)
}

// offsets is what one pass over an exchange trace leaves.
type offsets struct {
	ring             *ring[offsetColumn, *offsetColumn]
	n, bad, silent   int64
	incomplete       int64 // answered, and a stamp is missing
	best             analysis.OffsetBound
	lowest, highest  float64 // greatest lower and least upper limit of θ
	leastθ, mostθ    float64
	at, width        []float64
	theta, lo, hi    []float64 // of the tightest exchange of each column
	spreadLo, spread []float64
	badAt            []float64
}

func readOffsets(t Trace) (*offsets, error) {
	if err := checkKind("offset", t, datasets.Exchanges); err != nil {
		return nil, err
	}
	assumed := analysis.NewOffsetSummary(t.Rows.Header()).Assumptions
	o := &offsets{ring: newRing[offsetColumn]()}
	var e datasets.Exchange
	for t.Rows.Next(&e) {
		o.add(&e, assumed)
	}
	o.finish()
	return o, t.Rows.Err()
}

func (o *offsets) add(e *datasets.Exchange, assumed analysis.BoundAssumptions) {
	theta, complete := e.Offset()
	delay, _ := e.Delay()
	switch {
	case e.Outcome.Answered() && !complete:
		o.incomplete++
		return
	case e.Outcome == datasets.Invalid || e.Outcome.Answered() && delay < 0:
		o.bad++
		o.ring.column(e.Due).bad++
		return
	case !e.Outcome.Answered():
		o.silent++
		return
	}
	o.n++
	c := o.ring.column(e.Due)
	// The bound but for what is the same in every exchange with a server.
	rootDelay, _ := e.RootDelay.Value()
	dispersion, _ := e.RootDispersion.Value()
	key := delay.Seconds()/2 + max(rootDelay, 0).Seconds()/2 + max(dispersion, 0).Seconds()
	if c.n == 0 || key < c.key {
		c.key = key
		c.best, _ = analysis.Bound(e, assumed)
		c.best.Terms = nil
	}
	c.span(theta.Seconds(), theta.Seconds())
	c.n++
}

// finish takes from the columns what is drawn and said.
func (o *offsets) finish() {
	o.best.Seconds = math.Inf(1)
	o.lowest, o.highest = math.Inf(-1), math.Inf(1)
	o.leastθ, o.mostθ = math.Inf(1), math.Inf(-1)
	var at []float64
	o.ring.each(func(x, _ float64, c *offsetColumn) {
		if c.n > 0 {
			at = append(at, x)
		}
	})
	limit := hole(at)
	o.ring.each(func(at, width float64, c *offsetColumn) {
		if c.bad > 0 {
			o.badAt = append(o.badAt, at)
		}
		if c.n == 0 {
			return
		}
		if n := len(o.at); n > 0 && at-o.at[n-1] > limit {
			o.draw(o.at[n-1], width, &offsetColumn{least: absent(), greatest: absent(), best: analysis.OffsetBound{Offset: absent()}})
		}
		o.draw(at, width, c)
		o.sum(c.best)
	})
}

// draw adds a column to what is drawn.
func (o *offsets) draw(at, width float64, c *offsetColumn) {
	b := c.best
	o.at, o.width = append(o.at, at), append(o.width, width)
	o.theta, o.lo, o.hi = append(o.theta, b.Offset), append(o.lo, b.Offset-b.Seconds), append(o.hi, b.Offset+b.Seconds)
	o.spreadLo, o.spread = append(o.spreadLo, c.least), append(o.spread, c.greatest)
}

// sum adds a column to what is said.
func (o *offsets) sum(b analysis.OffsetBound) {
	if b.Seconds < o.best.Seconds {
		o.best = b
	}
	o.lowest, o.highest = max(o.lowest, b.Offset-b.Seconds), min(o.highest, b.Offset+b.Seconds)
	o.leastθ, o.mostθ = min(o.leastθ, b.Offset), max(o.mostθ, b.Offset)
}
