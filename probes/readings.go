package probes

import (
	"context"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// readings are made as a schedule says. A reading is of now: one whose time has passed
// by an interval or more is skipped, since there is nothing to catch up.
type readings struct {
	late    spread
	skipped int64
}

// each calls read at each due time after start, with that time and how late it is, until
// the schedule is fulfilled, ctx is done or read returns an error.
func (r *readings) each(ctx context.Context, s schedule, start time.Time, read func(due datasets.Instant, late time.Duration) error) error {
	sleeper := newSleeper()
	defer sleeper.close()
	for _, due := range s.all() {
		at := start.Add(time.Duration(due))
		if !sleeper.until(ctx, at) || ctx.Err() != nil {
			break
		}
		late := time.Since(at)
		if late >= s.interval {
			r.skipped++
			continue
		}
		r.late.add(late)
		if err := read(due, late); err != nil {
			return err
		}
	}
	return nil
}

// fields say how well the schedule was kept.
func (r *readings) fields() []datasets.Field {
	return append(r.late.fields("lateness"), count("skipped", r.skipped))
}
