package probes

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// schedule says when attempts are due. It knows nothing of answers: an attempt is
// due whether or not those before it were answered.
type schedule struct {
	arrivals arrivals
	interval time.Duration
	count    int64            // 0 is no limit
	duration time.Duration    // due times lie below it; 0 is no limit
	phase    datasets.Instant // when the first attempt is due
}

// newSchedule returns the evenly spaced schedule that plan asks for, at
// usual if it leaves the interval open.
func newSchedule(plan Plan, usual time.Duration) (schedule, error) {
	s := schedule{interval: plan.Interval, count: plan.Count, duration: plan.Duration}
	if s.interval == 0 {
		s.interval = usual
	}
	switch {
	case s.interval < 0:
		return s, &spec.UsageError{Msg: fmt.Sprintf("interval %q: must be positive", spec.Duration(s.interval))}
	case s.count < 0:
		return s, &spec.UsageError{Msg: fmt.Sprintf("count \"%d\": must not be negative", s.count)}
	case s.duration < 0:
		return s, &spec.UsageError{Msg: fmt.Sprintf("duration %q: must not be negative", spec.Duration(s.duration))}
	}
	if plan.Flow.Of > 1 {
		s.phase = datasets.Instant(s.interval) * datasets.Instant(plan.Flow.Number-1)
		s.interval *= time.Duration(plan.Flow.Of)
	}
	return s, nil
}

// all yields the number of each attempt, from 0, and its due time. The same
// schedule always yields the same.
func (s schedule) all() iter.Seq2[int64, datasets.Instant] {
	return func(yield func(int64, datasets.Instant) bool) {
		for c := s.start(); !c.over; c.step() {
			if !yield(c.n, c.due) {
				return
			}
		}
	}
}

// cursor stands at one attempt of a schedule.
type cursor struct {
	schedule schedule
	n        int64
	due      datasets.Instant
	over     bool // there is no such attempt, nor one after it
}

func (s schedule) start() *cursor {
	c := &cursor{schedule: s, due: s.phase}
	c.settle()
	return c
}

// step goes to the next attempt.
func (c *cursor) step() {
	gap := c.schedule.arrivals.gap(c.n, c.due-c.schedule.phase, c.schedule.interval)
	if gap > math.MaxInt64-time.Duration(c.due) {
		c.over = true
		return
	}
	c.n, c.due = c.n+1, c.due.Add(gap)
	c.settle()
}

func (c *cursor) settle() {
	s := &c.schedule
	c.over = s.count > 0 && c.n >= s.count || s.duration > 0 && time.Duration(c.due) >= s.duration
}

// String returns the schedule as a spec: constant:interval=10ms,count=100.
func (s schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:interval=%s", s.arrivals.name(), spec.Duration(s.interval))
	if s.count > 0 {
		fmt.Fprintf(&b, ",count=%d", s.count)
	}
	if s.duration > 0 {
		fmt.Fprintf(&b, ",duration=%s", spec.Duration(s.duration))
	}
	b.WriteString(s.arrivals.options())
	if s.phase > 0 {
		fmt.Fprintf(&b, ",phase=%s", spec.Duration(time.Duration(s.phase)))
	}
	return b.String()
}
