package probes

import (
	"context"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// selfWatcher sees how long this process was not run: it sleeps for a short while,
// over and over, and takes by how much it overslept.
type selfWatcher struct{ least time.Duration }

// calibration is how many sleeps tell the usual overrun of a quiet moment.
const calibration = 50

func (*selfWatcher) open(ctx context.Context, s schedule) ([]datasets.Field, error) {
	floor := usualOverrun(ctx, min(s.interval, time.Millisecond))
	return []datasets.Field{duration("floor", floor), timerFact()}, nil
}

func (*selfWatcher) columns() []string { return nil }
func (*selfWatcher) close()            {}

// usualOverrun returns the median overrun of a few sleeps: what the instrument
// itself adds to every pause.
func usualOverrun(ctx context.Context, sleep time.Duration) time.Duration {
	sleeper := newSleeper()
	defer sleeper.close()
	overruns := make([]time.Duration, 0, calibration)
	for len(overruns) < calibration {
		due := time.Now().Add(sleep)
		if !sleeper.until(ctx, due) {
			break
		}
		overruns = append(overruns, time.Since(due))
	}
	if len(overruns) == 0 {
		return 0
	}
	slices.Sort(overruns)
	return overruns[len(overruns)/2]
}

// watch sleeps and wakes. Each sleep counts from the wake before it: no moment goes
// unwatched.
func (w *selfWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error) {
	sleeper := newSleeper()
	defer sleeper.close()
	var overruns spread
	blame := newSuspects()
	runtime := newRuntimeTimes()
	start := time.Now()
	now := start
	for ctx.Err() == nil && !over(s, overruns.n, now.Sub(start)) {
		due := now.Add(s.interval)
		if !sleeper.until(ctx, due) {
			break
		}
		now = time.Now()
		length := now.Sub(due)
		overruns.add(length)
		blame.look()
		if length >= w.least {
			seen <- datasets.Pause{At: datasets.Instant(due.Sub(epoch)), Length: length, Cause: blame.cause(length)}
		}
	}
	trailer := append(overruns.fields("overrun"), count("wakes", overruns.n), duration(datasets.KeyObserved, now.Sub(start)))
	return append(trailer, runtime.fields()...), nil
}
