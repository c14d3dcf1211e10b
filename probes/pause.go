package probes

import (
	"context"
	"errors"
	"flag"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// pause measures how long this process was not run: it sleeps for a short while,
// over and over, and records by how much it overslept. Time in which the whole
// machine is suspended does not count, as the monotonic clock stands still then.
type pause struct {
	every time.Duration
	least time.Duration
}

func bindPause(fs *flag.FlagSet) func() (Probe, error) {
	every := fs.Duration("every", time.Millisecond, "the `length` of a sleep, unless an interval is asked for")
	least := fs.Duration("min", time.Millisecond, "the shortest overrun that is recorded")
	return func() (Probe, error) {
		if *every <= 0 {
			return nil, errors.New("every must be positive")
		}
		if *least < 0 {
			return nil, errors.New("min must not be negative")
		}
		return pause{*every, *least}, nil
	}
}

// Kind returns Pauses.
func (pause) Kind() datasets.Kind { return datasets.Pauses }

// TakesTarget is false: this process is measured.
func (pause) TakesTarget() bool { return false }

// calibration is how many sleeps tell the usual overrun of a quiet moment.
const calibration = 50

// Run sleeps as often as the plan says, or for as long, each time for the plan's
// interval or else the probe's own. It needs no deadline.
func (p pause) Run(ctx context.Context, _ string, plan Plan, rec Recorder) error {
	s, err := newSchedule(plan, p.every)
	if err != nil {
		return err
	}
	floor := usualOverrun(ctx, min(s.interval, time.Millisecond))
	epoch := time.Now()
	h := newHeader(datasets.Pauses, "", "", epoch, plan)
	setPlan(h, s, deadlines{}, 0)
	h.SetDuration("threshold", p.least)
	h.SetDuration("floor", floor)
	if err := rec.Begin(h); err != nil {
		return err
	}
	return p.watch(ctx, s, epoch, rec)
}

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

// mostPauses may wait to be recorded before watching has to wait for them.
const mostPauses = 1024

// watched is what watching gives beside the pauses.
type watched struct {
	overruns spread
	span     time.Duration
}

// watch records the pauses that a goroutine of its own sees, so that a slow
// recorder is not taken for a pause.
func (p pause) watch(ctx context.Context, s schedule, epoch time.Time, rec Recorder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pauses := make(chan datasets.Pause, mostPauses)
	var seen watched
	go func() {
		defer close(pauses)
		seen = p.sleep(ctx, s, epoch, pauses)
	}()
	var err error
	for row := range pauses { // to the end, so that the goroutine has ended too
		if err != nil {
			continue
		}
		if err = rec.Record(&row); err != nil {
			stop()
		}
	}
	if err != nil {
		return err
	}
	return rec.End(append(seen.overruns.fields("overrun"),
		count("wakes", seen.overruns.n), duration(datasets.KeyObserved, seen.span))...)
}

// sleep sleeps and wakes until the schedule is fulfilled or ctx is done. Each sleep
// counts from the wake before it: no moment goes unwatched.
func (p pause) sleep(ctx context.Context, s schedule, epoch time.Time, pauses chan<- datasets.Pause) (seen watched) {
	sleeper := newSleeper()
	defer sleeper.close()
	blame := newSuspects()
	start := time.Now()
	now := start
	for ctx.Err() == nil && !over(s, seen.overruns.n, now.Sub(start)) {
		due := now.Add(s.interval)
		if !sleeper.until(ctx, due) {
			break
		}
		now = time.Now()
		length := now.Sub(due)
		seen.overruns.add(length)
		blame.look()
		if length >= p.least {
			pauses <- datasets.Pause{At: datasets.Instant(due.Sub(epoch)), Length: length, Cause: blame.cause(length)}
		}
	}
	seen.span = now.Sub(start)
	return seen
}

// over reports whether the schedule is fulfilled after so many sleeps and so long.
func over(s schedule, done int64, spent time.Duration) bool {
	return s.count > 0 && done >= s.count || s.duration > 0 && spent >= s.duration
}
