package plots

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// bindOffset draws θ over time between the limits of its error.
func bindOffset(*flag.FlagSet) func() (Figure, error) {
	return func() (Figure, error) { return offset, nil }
}

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
	case e.Outcome == datasets.Invalid || e.Outcome.Answered() && (!complete || delay < 0):
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

func offset(traces []Trace) (*Chart, error) {
	if err := several("offset", traces); err != nil {
		return nil, err
	}
	c := &Chart{X: timeAxis(), Y: Axis{Label: "Offset θ (above 0: local clock slow)", Unit: "s"}}
	var all []*offsets
	var n, bad, silent int64
	var badAt []float64
	for i, t := range traces {
		o, err := readOffsets(t)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
		n, bad, silent = n+o.n, bad+o.bad, silent+o.silent
		if o.n > 0 {
			c.addOffsets(o, t.Name, seriesRoles()[i], len(traces) > 1)
		}
		badAt = append(badAt, o.badAt...)
	}
	c.limitsFirst()
	if bad > 0 {
		c.Layers = append(c.Layers, &Rug{Name: count(bad, "exchange") + " not to be believed", X: badAt, Role: Alarm})
	}
	c.Caption = source(traces...)
	c.includeZero()
	c.Subtitle = "The tightest exchange of each column, of " + unit.Count(n) + "; band: hard limits of its error"
	if len(traces) > 1 {
		c.Title = offsetsTitle(traces, all)
	} else {
		c.Title = offsetTitle(all[0])
	}
	if n == 0 {
		c.Title = "No offset: nothing to draw"
		c.Empty = fmt.Sprintf("None of %s was answered so that it can be believed.", count(bad+silent, "exchange"))
	}
	c.Desc = fmt.Sprintf("%s. %s without an answer.", c.Subtitle, count(silent, "exchange"))
	return c, nil
}

func (c *Chart) addOffsets(o *offsets, name string, role Role, named bool) {
	if !named {
		c.Layers = append(c.Layers, &Band{Name: "least to greatest", X: o.at, Lo: o.spreadLo, Hi: o.spread, Width: o.width, Role: Context, Solid: true})
	}
	c.Layers = append(c.Layers,
		&Band{Name: name + ", limits", X: o.at, Lo: o.lo, Hi: o.hi, Role: role},
		&Line{Name: name, X: o.at, Y: o.theta, Role: role, NoEnd: !named})
	if len(o.at) <= fewCells {
		c.Layers = append(c.Layers, &Points{Name: name, X: o.at, Y: o.theta, Role: role})
	}
}

// limitsFirst moves bands below lines, the widest undermost.
func (c *Chart) limitsFirst() {
	height := func(l Layer) float64 {
		b, ok := l.(*Band)
		if !ok {
			return 0
		}
		if b.Solid {
			return math.Inf(1)
		}
		least := math.Inf(1)
		for i := range b.Lo {
			if !math.IsNaN(b.Lo[i]) {
				least = min(least, b.Hi[i]-b.Lo[i])
			}
		}
		return least
	}
	slices.SortStableFunc(c.Layers, func(a, b Layer) int { return cmp.Compare(height(b), height(a)) })
}

// includeZero shows the line of no offset unless that would flatten what there is.
func (c *Chart) includeZero() {
	if _, y := c.ranges(); !y.empty() && max(math.Abs(y.lo), math.Abs(y.hi)) <= 6*(y.hi-y.lo) {
		c.Y.Include = []float64{0}
	}
}

// offsetTitle says what the bounds prove: a change, an offset, or none.
func offsetTitle(o *offsets) string {
	way := "slow"
	if o.best.Offset < 0 {
		way = "fast"
	}
	size, e := math.Abs(o.best.Offset), o.best.Seconds
	switch {
	case o.lowest > o.highest:
		return fmt.Sprintf("The offset moved by at least %s", format(o.lowest-o.highest))
	case size > e:
		return fmt.Sprintf("The local clock is %s by %s ± %s", way, format(size), format(e))
	case o.lowest > 0:
		return fmt.Sprintf("The local clock is at times slow by at least %s", format(o.lowest))
	case o.highest < 0:
		return fmt.Sprintf("The local clock is at times fast by at least %s", format(-o.highest))
	}
	return fmt.Sprintf("No offset is proven: at the tightest exchange θ is within %s of 0", format(size+e))
}

func offsetsTitle(traces []Trace, all []*offsets) string {
	least, most, tightest := math.Inf(1), math.Inf(-1), 0
	for i, o := range all {
		least, most = min(least, o.leastθ), max(most, o.mostθ)
		if o.best.Seconds < all[tightest].best.Seconds {
			tightest = i
		}
	}
	return fmt.Sprintf("%d sources place θ from %s to %s; %s bounds it best, to ± %s", len(all),
		format(least), format(most), traces[tightest].Name, format(all[tightest].best.Seconds))
}
