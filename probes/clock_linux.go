package probes

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

const (
	// A reading this many times wider than the narrowest so far was interrupted,
	// and is made again, at most retries times.
	tooWide = 3
	retries = 5
)

// clockReader reads the four clocks between two readings of CLOCK_MONOTONIC.
type clockReader struct {
	epoch     time.Time
	monotonic time.Duration // CLOCK_MONOTONIC at the epoch
	narrowest time.Duration
	widths    spread
	again     int64 // readings made again
	first     error
}

func newClockReader() (*clockReader, error) {
	r := &clockReader{}
	c := r.once()
	for range 2 * retries {
		if next := r.once(); next.Width < c.Width {
			c = next
		}
	}
	if r.first != nil {
		return nil, r.first
	}
	// The epoch is one reading, by both clocks.
	ns, _ := c.Realtime.UnixNanos()
	r.epoch, r.monotonic, r.narrowest = time.Unix(0, ns), c.Monotonic, c.Width
	return r, nil
}

// read returns the clocks as of the middle of the reading.
func (r *clockReader) read() datasets.ClockReading {
	best := r.once()
	for tries := 0; tries < retries && best.Width > tooWide*r.narrowest; tries++ {
		r.again++
		if next := r.once(); next.Width < best.Width {
			best = next
		}
	}
	r.narrowest = min(r.narrowest, best.Width)
	r.widths.add(best.Width)
	return best
}

func (r *clockReader) once() datasets.ClockReading {
	before := r.get(unix.CLOCK_MONOTONIC)
	realtime := r.get(unix.CLOCK_REALTIME)
	raw := r.get(unix.CLOCK_MONOTONIC_RAW)
	boot := r.get(unix.CLOCK_BOOTTIME)
	after := r.get(unix.CLOCK_MONOTONIC)
	middle := before + (after-before)/2
	return datasets.ClockReading{
		At:       datasets.Instant(middle - r.monotonic),
		Realtime: datasets.NewStamp(int64(realtime), datasets.Local, datasets.User),
		// The three lie a quarter, a half and three quarters into the reading: a
		// constant shift, far below the width that stands for it.
		Monotonic: middle, Raw: raw, Boottime: boot,
		Width: after - before,
	}
}

// get reads one clock, by a system call: Go has no faster way to these.
func (r *clockReader) get(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil && r.first == nil {
		r.first = fmt.Errorf("clock: clock_gettime(%d): %w", id, err)
	}
	return time.Duration(t.Nano())
}

// watch reads until the schedule is fulfilled or ctx is done.
func (r *clockReader) watch(ctx context.Context, s schedule, rec Recorder) error {
	var all readings
	err := all.each(ctx, s, time.Now(), func(datasets.Instant, time.Duration) error {
		row := r.read()
		if r.first != nil {
			return r.first
		}
		return rec.Record(&row)
	})
	if err != nil {
		return err
	}
	fields := append(r.widths.fields("width"), all.fields()...)
	return rec.End(append(fields, count("readings", r.widths.n), count("read-again", r.again))...)
}

// fineness returns the smallest step of CLOCK_REALTIME that was seen and what it
// costs to read it, both as Go's time.Now does.
func (r *clockReader) fineness() (step, cost time.Duration) {
	const reads = 1000
	start := time.Now()
	last := start
	for range reads {
		now := time.Now()
		if d := now.Sub(last); d > 0 && (step == 0 || d < step) {
			step = d
		}
		last = now
	}
	return step, last.Sub(start) / reads
}

// resolutions returns what the kernel claims of each clock.
func (r *clockReader) resolutions() []datasets.Field {
	var fields []datasets.Field
	for _, c := range []struct {
		name string
		id   int32
	}{
		{"realtime", unix.CLOCK_REALTIME},
		{"monotonic", unix.CLOCK_MONOTONIC},
		{"raw", unix.CLOCK_MONOTONIC_RAW},
		{"boottime", unix.CLOCK_BOOTTIME},
	} {
		var t unix.Timespec
		if unix.ClockGetres(c.id, &t) == nil {
			fields = append(fields, duration("resolution-"+c.name, time.Duration(t.Nano())))
		}
	}
	return fields
}
