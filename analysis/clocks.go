package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ClockSummary sums up a clock trace: how one host's clocks moved against each
// other. Signs follow θ: a positive step or rate says that the clock under test
// lost. The zero value is ready; it keeps 56 bytes a reading.
type ClockSummary struct {
	readings []reading
	widths   ranks
	without  int64
	steps    []Step
	stepped  time.Duration // growth of MONOTONIC − REALTIME by steps and suspends
	slept    time.Duration
}

// reading is one ClockReading as differences that a step or a slew would change.
type reading struct {
	at        datasets.Instant
	raw       time.Duration
	behind    time.Duration // MONOTONIC − REALTIME: grows when the wall clock loses
	drifted   time.Duration // the same without steps and suspends
	slewed    time.Duration // RAW − MONOTONIC: grows when NTP holds MONOTONIC back
	suspended time.Duration // BOOTTIME − MONOTONIC
	width     time.Duration
}

// Clocks is what a clock trace says, in seconds and ppm.
type Clocks struct {
	N                   int64
	Steps               []Step
	MonotonicVsRaw      Rate // what adjtime and NTP do to MONOTONIC
	RealtimeVsMonotonic Rate // beyond steps and suspends; 0 on Linux, which slews both
	Suspended           datasets.Optional[float64]
	Width               Interval // p50 of the time one reading took
	Warnings            []string
}

// Step is a jump of the wall clock, in seconds. Bound is a hard limit on its error:
// the widths of the readings around it.
type Step struct {
	At, Size, Bound float64 // At counts from the first reading
}

// Rate is a clock's rate error over the trace, positive if it loses. Bound is a hard
// limit on its error from the widths of the readings it was taken between.
type Rate struct{ PPM, Bound datasets.Optional[float64] }

// Add takes one reading; they come in the order of time.
func (c *ClockSummary) Add(row *datasets.ClockReading) {
	wall, ok := row.Realtime.UnixNanos()
	if !ok {
		c.without++
		return
	}
	r := reading{
		at: row.At, raw: row.Raw, behind: row.Monotonic - time.Duration(wall), slewed: row.Raw - row.Monotonic,
		suspended: row.Boottime - row.Monotonic, width: row.Width,
	}
	if n := len(c.readings); n > 0 {
		c.follow(c.readings[n-1], r)
	}
	r.drifted = r.behind - c.stepped
	c.readings = append(c.readings, r)
	c.widths.add(row.Width)
}

// follow notes what happened between two readings that their widths cannot explain.
// Time suspended moves REALTIME and not MONOTONIC, and is no step.
func (c *ClockSummary) follow(before, after reading) {
	bound := before.width + after.width
	slept := after.suspended - before.suspended
	if slept <= bound {
		slept = 0
	}
	c.slept += slept
	c.stepped -= slept
	size := after.behind - before.behind + slept
	if size.Abs() > bound {
		c.stepped += size
		at := after.at.Sub(c.readings[0].at)
		c.steps = append(c.steps, Step{at.Seconds(), size.Seconds(), bound.Seconds()})
	}
}

// Summary returns the whole, with an interval for the width at level.
func (c *ClockSummary) Summary(level float64) Clocks {
	out := Clocks{N: int64(len(c.readings)), Width: c.widths.quantile(0.5, level), Steps: c.steps}
	out.Warnings = out.Width.about("read width")
	if c.without > 0 {
		out.Warnings = append(out.Warnings, "clocks: "+
			counted(c.without, "reading has no wall clock and is left out", "readings have no wall clock and are left out"))
	}
	if len(c.readings) < 2 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("clocks: needs 2 readings, has %d", len(c.readings)))
		return out
	}
	if intervals := len(c.readings) - 1; len(c.steps) > max(3, intervals/2) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("clocks: %d of %d intervals hold a step: this host slews REALTIME apart from MONOTONIC, read the rate instead", len(c.steps), intervals))
	}
	out.Suspended = someSeconds(c.slept)
	out.MonotonicVsRaw = c.rate(func(r reading) time.Duration { return r.slewed })
	out.RealtimeVsMonotonic = c.rate(func(r reading) time.Duration { return r.drifted })
	return out
}

// rate returns the growth of x over RAW time between the narrowest reading of the
// first tenth and that of the last: their widths limit its error. Any single rate
// is an average: a clock that is steered changes its own.
func (c *ClockSummary) rate(x func(reading) time.Duration) Rate {
	tenth := max(len(c.readings)/10, 1)
	a, b := narrowest(c.readings[:tenth]), narrowest(c.readings[len(c.readings)-tenth:])
	span := (b.raw - a.raw).Seconds()
	if span <= 0 {
		return Rate{}
	}
	return Rate{
		PPM:   datasets.Some((x(b) - x(a)).Seconds() / span * 1e6),
		Bound: datasets.Some((a.width + b.width).Seconds() / span * 1e6),
	}
}

func narrowest(readings []reading) reading {
	return slices.MinFunc(readings, func(a, b reading) int { return cmp.Compare(a.width, b.width) })
}
