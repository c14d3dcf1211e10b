package probes

import (
	"context"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// longestNap bounds how long a sleeper sleeps on after it was cancelled.
const longestNap = 50 * time.Millisecond

// until returns true at due or later, or false sooner if ctx is done.
func (s *sleeper) until(ctx context.Context, due time.Time) bool {
	for {
		left := time.Until(due)
		if left <= 0 || ctx.Err() != nil {
			return left <= 0
		}
		s.nap(min(left, longestNap))
	}
}

// timerFact tells a reader of a trace by which timer its probe woke, whose lateness the
// timer probe measures.
func timerFact() datasets.Field { return datasets.Field{Key: "timer", Value: timerName()} }

// runtimeTimerFact is the timer of who waits for the runtime's timers: as late as time.Sleep.
func runtimeTimerFact() datasets.Field { return datasets.Field{Key: "timer", Value: "sleep"} }
