package probes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// crossStamp is one reading of a PHC between two of the system clock, in nanoseconds
// since each one's 1970.
type crossStamp struct{ before, phc, after int64 }

func (c crossStamp) width() time.Duration { return time.Duration(c.after - c.before) }

// ahead is the PHC minus the system clock at the middle of the reading.
func (c crossStamp) ahead() int64 { return c.phc - c.before - (c.after-c.before)/2 }

// narrowest returns the reading that was interrupted least, and the widest's width. A
// reading whose end is before its beginning saw the system clock step, and is only
// returned if there is no other.
func narrowest(all []crossStamp) (best crossStamp, widest time.Duration) {
	best = all[0]
	for _, c := range all {
		if widest = max(widest, c.width()); c.width() >= 0 && (c.width() < best.width() || best.width() < 0) {
			best = c
		}
	}
	return best, widest
}

// phcReader reads one PHC, against the system clock or against another.
type phcReader struct {
	clock, reference *phcClock // reference is nil for the system clock
	samples          int
	utc              time.Duration

	widths  spread
	failed  int64
	failure string // the first
}

// source is who reads the local clock.
func (r *phcReader) source() datasets.Source {
	if r.reference != nil {
		return datasets.Hardware
	}
	return datasets.User
}

// extra names the columns of what was read and is not in the stamps.
func (r *phcReader) extra() []string {
	if r.reference == nil {
		return []string{"widest_ns"}
	}
	return []string{"widest_ns", "system_before", "system_after", "against_before", "against", "against_after"}
}

func (r *phcReader) record(ctx context.Context, s schedule, epoch time.Time, rec Recorder) error {
	var made int64
	var all readings
	err := all.each(ctx, s, epoch, func(due datasets.Instant, late time.Duration) error {
		row := r.read()
		row.Seq, row.Call, row.Attempt, row.Inflight = made, made, 1, 1
		row.Due, row.Sent = due, due.Add(late)
		made++
		return rec.Record(&row)
	})
	if err != nil {
		return err
	}
	fields := append(append(r.widths.fields("width"), all.fields()...), count("failed", r.failed))
	if r.failure != "" {
		fields = append(fields, datasets.Field{Key: "read-error", Value: r.failure})
	}
	return rec.End(fields...)
}

// read makes one row, without its place in the trace.
func (r *phcReader) read() datasets.Exchange {
	began := thisMoment()
	row, err := r.stamps()
	ended := thisMoment()
	row.Elapsed = ended.mono.Sub(began.mono)
	switch {
	case err != nil:
		r.failed++
		if r.failure == "" {
			r.failure = err.Error()
		}
		row.Outcome = datasets.LostLocal
		return row
	case r.utc != 0:
		row.UTCOffset = datasets.Some(r.utc)
	}
	if row.Why = stepBetween(began, ended); row.Why == "" {
		row.Why = contradiction(&row)
	}
	row.Outcome, row.Copies = datasets.Replied, 1
	if row.Why != "" {
		row.Outcome, row.Copies = datasets.Invalid, 0
	}
	return row
}

// stamps reads the clocks into the four stamps.
//
// Against another PHC there are two readings, one after the other: that of the
// reference says what it showed while the system clock was read around the target, and
// T1 and T4 are those two moments by the reference, moved apart by half the width of
// its own reading and by what the clocks may drift apart in between (500 ppm, more than
// a system clock is ever steered by), so that half of δ still bounds the error.
func (r *phcReader) stamps() (row datasets.Exchange, err error) {
	var reference crossStamp
	if r.reference != nil {
		all, err := r.reference.read(r.samples)
		if err != nil {
			return row, err
		}
		reference, _ = narrowest(all)
	}
	all, err := r.clock.read(r.samples)
	if err != nil {
		return row, err
	}
	c, widest := narrowest(all)
	r.widths.add(c.width())
	extra := []int64{int64(widest)}
	before, after := c.before, c.after
	if r.reference != nil {
		between := max(c.after-reference.before, reference.after-c.before)
		apart := int64((reference.width()+1)/2) + int64(float64(between)*slewLimit) + 1
		before, after = before+reference.ahead()-apart, after+reference.ahead()+apart
		extra = append(extra, c.before, c.after, reference.before, reference.phc, reference.after)
	}
	row.T1, row.T4 = datasets.NewStamp(before, datasets.Local, r.source()), datasets.NewStamp(after, datasets.Local, r.source())
	row.T2 = datasets.NewStamp(c.phc, datasets.Remote, datasets.Hardware)
	row.T3 = row.T2
	row.Extra = tabbed(extra)
	return row, nil
}

func tabbed(numbers []int64) string {
	var b strings.Builder
	for i, n := range numbers {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString(strconv.FormatInt(n, 10))
	}
	return b.String()
}

// phcWay is a way to read a PHC.
type phcWay struct {
	name string
	read func(fd uintptr, samples int) ([]crossStamp, error)
}

func wayNames() []string {
	var names []string
	for _, w := range phcWays() {
		names = append(names, w.name)
	}
	return names
}

// phcClock is an open PHC.
type phcClock struct {
	path       string // /dev/ptpN
	name       string // that its driver gives it
	interfaces []string
	way        phcWay
	device     phcDevice
}

// phcDevice is what is read: a file, but in tests.
type phcDevice interface {
	Fd() uintptr
	Close() error
}

func (c *phcClock) read(samples int) ([]crossStamp, error) {
	all, err := c.way.read(c.device.Fd(), samples)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	return all, nil
}

func (c *phcClock) close() error { return c.device.Close() }

// choose takes the first way, or the named one, by which the device can be read.
func (c *phcClock) choose(ways []phcWay, name string, samples int) error {
	var reasons []string
	for _, w := range ways {
		if name != "auto" && name != w.name {
			continue
		}
		c.way = w
		all, err := w.read(c.device.Fd(), samples)
		if err == nil && len(all) > 0 {
			return nil
		}
		reasons = append(reasons, fmt.Sprintf("%s: %v", w.name, err))
	}
	return fmt.Errorf("%s: cannot be read: %s", c.path, strings.Join(reasons, "; "))
}
