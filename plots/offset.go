package plots

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
)

// bindOffset draws θ over time between the limits of its error.
func bindOffset(*flag.FlagSet) func() (Figure, error) {
	return func() (Figure, error) { return offset, nil }
}

func offset(traces []Trace) (*Chart, error) {
	if err := several("offset", traces); err != nil {
		return nil, err
	}
	c := &Chart{X: timeAxis(), Y: Axis{Label: "Offset θ (above 0: local clock slow)", Unit: "s"}}
	var all []*offsets
	var n, bad, silent, incomplete int64
	var badAt []float64
	for i, t := range traces {
		o, err := readOffsets(t)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
		n, bad, silent, incomplete = n+o.n, bad+o.bad, silent+o.silent, incomplete+o.incomplete
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
		c.Empty = fmt.Sprintf("None of %s was answered so that it can be believed.", count(bad+silent+incomplete, "exchange"))
	}
	if slices.ContainsFunc(all, (*offsets).countTAI) {
		c.Title = "TAI/UTC mismatch? " + c.Title
	}
	c.Desc = fmt.Sprintf("%s. %s without an answer, %s without a stamp.", c.Subtitle, count(silent, "exchange"), unit.Count(incomplete))
	return c, nil
}

// countTAI reports whether some of what is drawn looks like TAI's offset.
func (o *offsets) countTAI() bool {
	return o.n > 0 && slices.ContainsFunc([]float64{o.best.Offset, o.leastθ, o.mostθ}, analysis.CountsTAI)
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
