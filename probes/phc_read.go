package probes

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// phcReader reads one PHC, against the system clock or against another.
type phcReader struct {
	clock, reference *phcClock // reference is nil for the system clock
	samples          int
	utc              time.Duration

	widths  spread
	failed  int64
	failure string        // the first
	tai     int64         // rows whose θ looks like TAI's
	aheadBy time.Duration // θ of the first of them
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
	return []string{
		"widest_ns", "system_before", "system_after",
		"earlier_before", "earlier", "earlier_after", "later_before", "later", "later_after",
	}
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
	return rec.End(append(append(r.widths.fields("width"), all.fields()...), r.fields()...)...)
}

// fields say what came of the readings.
func (r *phcReader) fields() []datasets.Field {
	fields := []datasets.Field{count("failed", r.failed)}
	if r.failure != "" {
		fields = append(fields, datasets.Field{Key: "read-error", Value: r.failure})
	}
	if r.tai > 0 {
		takesOff := r.utc + r.aheadBy.Round(time.Second)
		fields = append(fields, datasets.Field{Key: "warning", Value: fmt.Sprintf(
			"TAI/UTC mismatch? %d offsets are near %v: utc-offset=%s takes it off", r.tai, r.aheadBy.Round(time.Second), spec.Duration(takesOff))})
	}
	return fields
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
	row.Outcome, row.Copies = datasets.Replied, 1
	if row.Why = cmp.Or(row.Why, stepBetween(began, ended), contradiction(&row)); row.Why != "" {
		row.Outcome, row.Copies = datasets.Invalid, 0
	}
	if theta, _ := row.Offset(); datasets.CountsTAI(theta) {
		if r.tai++; r.tai == 1 {
			r.aheadBy = theta
		}
	}
	return row
}

// stamps reads the clocks into the four stamps.
//
// Against the system clock they are the narrowest of the readings as it came. Against
// another PHC the system clock is what both are read by, and must not show: the
// reference is read, then the target, then the reference again, and T1 and T4 are the
// limits of what the reference showed as the target was read (crossStamp.by). So half
// of δ bounds the error there too. All nine stamps are kept: T2 and the extra columns.
func (r *phcReader) stamps() (row datasets.Exchange, err error) {
	if r.reference == nil {
		c, widest, err := r.clock.best(r.samples)
		if err != nil {
			return row, err
		}
		r.fill(&row, c, c.width(), []int64{int64(widest)})
		return row, nil
	}
	earlier, _, err := r.reference.best(r.samples)
	if err != nil {
		return row, err
	}
	c, widest, err := r.clock.best(r.samples)
	if err != nil {
		return row, err
	}
	later, _, err := r.reference.best(r.samples)
	if err != nil {
		return row, err
	}
	if min(earlier.width(), later.width()) < 0 {
		row.Why = "the system clock stepped back while " + r.reference.path + " was read"
	}
	r.fill(&row, c.by(earlier, later), c.width(), []int64{
		int64(widest), c.before, c.after,
		earlier.before, earlier.phc, earlier.after, later.before, later.phc, later.after,
	})
	return row, nil
}

func (r *phcReader) fill(row *datasets.Exchange, c crossStamp, width time.Duration, extra []int64) {
	r.widths.add(width)
	row.T1, row.T4 = datasets.NewStamp(c.before, datasets.Local, r.source()), datasets.NewStamp(c.after, datasets.Local, r.source())
	row.T2 = datasets.NewStamp(c.phc, datasets.Remote, datasets.Hardware)
	row.T3 = row.T2
	row.Extra = tabbed(extra)
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
