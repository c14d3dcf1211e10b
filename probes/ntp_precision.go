package probes

import (
	"slices"
	"time"
)

// clockPrecision returns ρ of the local clock as a program reads it: its smallest
// step plus the median cost of a reading. It takes some 0.1 ms, and 50 ms at most
// where the clock is so coarse that a step is long in coming.
func clockPrecision() time.Duration {
	const readings, patience = 1000, 50 * time.Millisecond
	costs := make([]time.Duration, 0, readings)
	start := time.Now()
	last, step := start, time.Duration(0)
	for len(costs) < readings || step == 0 && last.Sub(start) < patience {
		now := time.Now()
		costs = append(costs, now.Sub(last))
		if d := time.Duration(now.UnixNano() - last.UnixNano()); d > 0 && (step == 0 || d < step) {
			step = d
		}
		last = now
	}
	if step == 0 {
		step = last.Sub(start)
	}
	slices.Sort(costs)
	return step + costs[len(costs)/2]
}
