package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// timerWatcher sees how late each way to wait for a point in time wakes on this host.
// The ways take turns, so that what disturbs the host disturbs them alike, and each has
// a goroutine of its own. A wake is a row: at is when it was due, length how late it
// came, and cause the way.
type timerWatcher struct {
	ways []timerWay
	lost []string // ways that this host does not allow, and why
}

// timerWay is one way to wait.
type timerWay struct {
	name string
	what string
	own  bool // wants a thread of its own, with timers that are not put off
	open func() (waiter, error)
}

// waiter waits until a point in time.
type waiter interface {
	// begin is called before a turn: the first wake is due an interval after start.
	begin(start time.Time, interval time.Duration)
	// until returns true at due or later, or false sooner if ctx is done. The points in
	// time of a turn lie whole intervals apart.
	until(ctx context.Context, due time.Time) bool
	close()
}

func timerWays() []timerWay {
	return append([]timerWay{
		{"sleep", "time.Sleep", false, func() (waiter, error) { return &sleepWaiter{}, nil }},
		{"ticker", "time.Ticker", false, func() (waiter, error) { return &tickerWaiter{}, nil }},
		{"spin", "sleep until shortly before, then look at the clock all the time", false, func() (waiter, error) { return &spinWaiter{newSleeper()}, nil }},
	}, kernelWays()...)
}

const allWays = "all"

func bindTimer(fs *flag.FlagSet) func() (Probe, error) {
	var names []string
	for _, w := range timerWays() {
		names = append(names, w.name)
	}
	by := fs.String("by", allWays, "the `way` to wait: all in turn, or one of "+strings.Join(names, ", "))
	every := fs.Duration("every", time.Millisecond, "how `long` it waits each time, unless an interval is asked for")
	return func() (Probe, error) {
		if *every <= 0 {
			return nil, errors.New("every must be positive")
		}
		w := &timerWatcher{}
		for _, way := range timerWays() {
			if *by == allWays || *by == way.name {
				w.ways = append(w.ways, way)
			}
		}
		if len(w.ways) == 0 {
			return nil, fmt.Errorf("by %q: want %s or, on this system, %s", *by, allWays, strings.Join(names, ", "))
		}
		return pause{name: "timer", watcher: w, every: *every}, nil
	}
}

func (*timerWatcher) columns() []string { return nil }
func (*timerWatcher) close()            {}

// spinning is how long before it is due a spinning wait stops to sleep.
const spinning = 200 * time.Microsecond

func (w *timerWatcher) open(context.Context, schedule) ([]datasets.Field, error) {
	var allowed []timerWay
	w.lost = nil
	for _, way := range w.ways {
		if tried, err := way.open(); err != nil {
			w.lost = append(w.lost, fmt.Sprintf("%s: %v", way.name, err))
		} else {
			tried.close()
			allowed = append(allowed, way)
		}
	}
	if len(allowed) == 0 {
		return nil, errors.New(strings.Join(w.lost, "; "))
	}
	w.ways = allowed
	facts := []datasets.Field{{Key: "watched", Value: "lateness of timers"}, timerFact()}
	for _, way := range w.ways {
		facts = append(facts, datasets.Field{Key: "timer-" + way.name, Value: way.what})
	}
	facts = append(facts, duration("spinning", spinning))
	if w.lost != nil {
		facts = append(facts, datasets.Field{Key: datasets.KeyLost, Value: strings.Join(w.lost, "; ")})
	}
	return facts, nil
}

// turn is how many wakes one way has before it is another's turn.
const turn = 10

func (w *timerWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error) {
	turns := make([]*timerTurns, len(w.ways))
	for i, way := range w.ways {
		waiter, err := way.open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		turns[i] = newTimerTurns(way, waiter)
		defer turns[i].stop()
	}
	start := time.Now()
	for ctx.Err() == nil && !over(s, turns[len(turns)-1].late.n, time.Since(start)) {
		for _, t := range turns {
			n := int64(turn)
			if s.count > 0 {
				n = min(n, s.count-t.late.n)
			}
			if ctx.Err() == nil && (s.duration == 0 || time.Since(start) < s.duration) {
				t.take(ctx, n, s.interval, epoch, seen)
			}
		}
	}
	var trailer []datasets.Field
	for _, t := range turns {
		trailer = append(trailer, t.fields()...)
	}
	return append(trailer, duration(datasets.KeyObserved, time.Since(start))), nil
}
