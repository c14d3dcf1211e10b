package plots

import (
	"flag"
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// bindClocks draws how one host's clocks move against each other.
func bindClocks(*flag.FlagSet) func() (Figure, error) {
	return func() (Figure, error) { return clocks, nil }
}

// drift is the growth of the difference of two clocks since the first reading.
type drift struct {
	reduced     *reducer
	first, last time.Duration
	begun       bool
	jump        time.Duration // the greatest that the widths of its readings cannot explain
	jumpAt      datasets.Instant
	jumpTo      time.Duration
	width       time.Duration // of the reading before
	firstWidth  time.Duration
}

func (d *drift) add(at datasets.Instant, difference, width time.Duration) {
	if !d.begun {
		d.begun, d.first, d.last, d.width, d.firstWidth = true, difference, difference, width, width
	}
	if step := difference - d.last; step.Abs() > width+d.width && step.Abs() > d.jump.Abs() {
		d.jump, d.jumpAt, d.jumpTo = step, at, difference-d.first
	}
	d.last, d.width = difference, width
	d.reduced.add(at, difference-d.first)
}

func (d *drift) grown() time.Duration { return d.last - d.first }

func clocks(traces []Trace) (*Chart, error) {
	t, err := only("clocks", traces)
	if err != nil {
		return nil, err
	}
	if err := checkKind("clocks", t, datasets.Clocks); err != nil {
		return nil, err
	}
	wall, slew := &drift{reduced: newReducer(0)}, &drift{reduced: newReducer(0)}
	var n int64
	var r datasets.ClockReading
	for t.Rows.Next(&r) {
		if ns, ok := r.Realtime.UnixNanos(); ok {
			wall.add(r.At, r.Monotonic-time.Duration(ns), r.Width)
		}
		slew.add(r.At, r.Raw-r.Monotonic, r.Width)
		n++
	}
	if err := t.Rows.Err(); err != nil {
		return nil, err
	}
	c := &Chart{
		X: timeAxis(), Y: Axis{Label: "Time lost since the first reading", Unit: "s", Include: []float64{0}},
		Caption: source(t),
	}
	if n < 2 {
		c.Title = "Nothing to compare"
		c.Empty = fmt.Sprintf("%s holds %s; it takes 2 to see a clock move.", t.Name, count(n, "reading"))
		c.Desc = c.Empty
		return c, nil
	}
	c.addDrift(slew, "steered clock", Context)
	c.addDrift(wall, "wall clock", Accent)
	if wall.jump != 0 {
		c.Notes = append(c.Notes, Note{
			X: seconds(wall.jumpAt), Y: seconds(wall.jumpTo), Role: Accent, Text: "step of θ: " + format(seconds(wall.jump)),
		})
	}
	c.Title = clocksTitle(wall, slew)
	c.Subtitle = "The wall clock against the steered one (CLOCK_MONOTONIC), and that against the raw one, in " + count(n, "reading")
	c.Desc = c.Subtitle + "."
	return c, nil
}

func (c *Chart) addDrift(d *drift, name string, role Role) {
	cells := d.reduced.cells()
	line := medianLine(cells)
	line.Name, line.Role, line.NoEnd, line.Thin = name, role, false, false
	extent, _ := splitCells(cells, 1e18)
	extent.Name, extent.Role, extent.Solid = name+", least to greatest", role, false
	c.Layers = append(c.Layers, extent, line)
}

func clocksTitle(wall, slew *drift) string {
	if wall.jump != 0 {
		way := "forward" // it lost less
		if wall.jump > 0 {
			way = "back"
		}
		return fmt.Sprintf("The wall clock stepped %s by %s after %s", way, inWords(wall.jump.Abs()), span(time.Duration(wall.jumpAt)))
	}
	verb, lost := "lost", slew.grown()
	if limit := slew.firstWidth + slew.width; lost.Abs() <= limit {
		return fmt.Sprintf("No step, and no drift of the steered clock beyond the %s that reading it costs", inWords(limit))
	}
	if lost < 0 {
		verb = "gained"
	}
	return fmt.Sprintf("No step; the steered clock %s %s against the raw one", verb, inWords(lost.Abs()))
}
