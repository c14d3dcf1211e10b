package probes

import (
	"context"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// timerTurns are the turns of one way to wait.
type timerTurns struct {
	way     timerWay
	waiter  waiter
	do      chan func()
	ended   chan struct{}
	late    spread
	skipped int64 // wakes that had no moment left: the one before came after they were due
	cpu     time.Duration
	knows   bool // how much processor time it took
}

func newTimerTurns(way timerWay, w waiter) *timerTurns {
	t := &timerTurns{way: way, waiter: w, do: make(chan func()), ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		if way.own {
			sharpen()
		}
		for f := range t.do {
			f()
		}
	}()
	return t
}

func (t *timerTurns) stop() {
	close(t.do)
	<-t.ended
	t.waiter.close()
}

// take has n wakes made, and returns when they are.
func (t *timerTurns) take(ctx context.Context, n int64, interval time.Duration, epoch time.Time, seen chan<- datasets.Pause) {
	done := make(chan struct{})
	t.do <- func() {
		defer close(done)
		before, known := cpuTime()
		t.wait(ctx, n, interval, epoch, seen)
		after, _ := cpuTime()
		t.cpu, t.knows = t.cpu+after-before, known
	}
	<-done
}

func (t *timerTurns) wait(ctx context.Context, n int64, interval time.Duration, epoch time.Time, seen chan<- datasets.Pause) {
	start := time.Now()
	t.waiter.begin(start, interval)
	due := start
	for range n {
		if due = due.Add(interval); !t.waiter.until(ctx, due) {
			return
		}
		late := time.Since(due)
		t.late.add(late)
		seen <- datasets.Pause{At: datasets.Instant(due.Sub(epoch)), Length: late, Cause: t.way.name}
		passed := late / interval
		t.skipped += int64(passed)
		due = due.Add(passed * interval)
	}
}

// fields say how late the wakes were and what one costs.
func (t *timerTurns) fields() []datasets.Field {
	fields := append(t.late.fields(t.way.name), count(t.way.name+"-skipped", t.skipped))
	if t.knows && t.late.n > 0 {
		fields = append(fields, duration(t.way.name+"-cpu", t.cpu/time.Duration(t.late.n)))
	}
	return fields
}

// sleepWaiter waits by time.Sleep.
type sleepWaiter struct{}

func (*sleepWaiter) begin(time.Time, time.Duration) {}
func (*sleepWaiter) close()                         {}

func (*sleepWaiter) until(ctx context.Context, due time.Time) bool {
	for left := time.Until(due); left > 0; left = time.Until(due) {
		if ctx.Err() != nil {
			return false
		}
		time.Sleep(min(left, longestNap))
	}
	return true
}

// tickerWaiter waits by time.Ticker.
type tickerWaiter struct{ ticker *time.Ticker }

func (w *tickerWaiter) begin(_ time.Time, interval time.Duration) {
	w.close()
	w.ticker = time.NewTicker(interval)
}

func (w *tickerWaiter) until(ctx context.Context, due time.Time) bool {
	for time.Until(due) > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-w.ticker.C:
		}
	}
	return true
}

func (w *tickerWaiter) close() {
	if w.ticker != nil {
		w.ticker.Stop()
	}
}

// spinWaiter sleeps as the house does and then looks at the clock all the time.
type spinWaiter struct{ sleeper *sleeper }

func (*spinWaiter) begin(time.Time, time.Duration) {}
func (w *spinWaiter) close()                       { w.sleeper.close() }

func (w *spinWaiter) until(ctx context.Context, due time.Time) bool {
	if !w.sleeper.until(ctx, due.Add(-spinning)) {
		return false
	}
	for time.Until(due) > 0 {
	}
	return true
}
