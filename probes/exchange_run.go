package probes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// exchanger makes exchanges with one server, one after another.
type exchanger interface {
	// attempt makes one, waits for its answer but not beyond until, and makes it a row
	// that lacks its place in the trace alone.
	attempt(ctx context.Context, until time.Time, row *datasets.Exchange) attempted
	// keep records the row, after those that wait for what only the next exchange tells.
	keep(row *datasets.Exchange, record func(*datasets.Exchange) error) error
	// flush records what still waits, as it is.
	flush(record func(*datasets.Exchange) error) error
	// trailer says how well it went.
	trailer() []datasets.Field
}

// attempted is what is known of an attempt beside its row.
type attempted struct {
	sent moment
	// occasion is when the server gave one to send, if that is its part: then it is due.
	occasion moment
	err      error  // why it was not sent
	kiss     string // the kiss code to obey
	broken   error  // why there can be no more
}

// exchangeRun is one recording of one server.
type exchangeRun struct {
	with     exchanger
	epoch    time.Time
	listen   time.Duration
	deadline datasets.Optional[time.Duration]
	pace     ntpPace
	timer    *time.Timer

	row         datasets.Exchange // of the last attempt
	lateness    spread            // of the attempts that were sent
	first, last datasets.Instant
	unfinished  int64
	kisses      int64  // RATE
	stopped     string // why the recording ended before its plan
	failure     string // the first cause of a send that failed
}

// record makes the attempts and ends the recording.
func (r *exchangeRun) record(ctx context.Context, rec Recorder) error {
	var broken error
	record := func(row *datasets.Exchange) error { return rec.Record(row) }
	for r.stopped == "" {
		due, more := r.pace.next()
		if !more || !r.wait(ctx, due) {
			break
		}
		if r.now().Sub(due) >= r.listen { // we were not run when it was due
			r.pace.miss(r.now())
			continue
		}
		a := r.with.attempt(ctx, r.epoch.Add(time.Duration(due)+r.listen), &r.row)
		if ctx.Err() != nil && (r.row.Outcome == datasets.TimedOut || r.row.Outcome == datasets.LostLocal) {
			r.unfinished++
			break
		}
		if broken = a.broken; broken != nil {
			break
		}
		r.place(a, due)
		if err := r.with.keep(&r.row, record); err != nil {
			return err
		}
		r.obey(a.kiss)
		r.pace.done(r.row.Sent, r.now())
	}
	if err := r.with.flush(record); err != nil {
		return err
	}
	return errors.Join(broken, rec.End(r.trailer()...))
}

func (r *exchangeRun) now() datasets.Instant { return datasets.Instant(time.Since(r.epoch)) }

// wait returns at due, and false if ctx is done before.
func (r *exchangeRun) wait(ctx context.Context, due datasets.Instant) bool {
	left := due.Sub(r.now())
	if left <= 0 {
		return ctx.Err() == nil
	}
	if r.timer == nil {
		r.timer = time.NewTimer(left)
	} else {
		r.timer.Reset(left)
	}
	select {
	case <-ctx.Done():
		r.timer.Stop()
		return false
	case <-r.timer.C:
		return ctx.Err() == nil
	}
}

// place puts the row of an attempt into the trace.
func (r *exchangeRun) place(a attempted, due datasets.Instant) {
	e := &r.row
	if !a.occasion.isZero() {
		due = max(due, datasets.Instant(a.occasion.mono.Sub(r.epoch)))
	}
	e.Seq, e.Call, e.Attempt, e.Inflight = r.pace.made, r.pace.made, 1, 1
	e.Due, e.Sent, e.Deadline = due, datasets.Instant(a.sent.mono.Sub(r.epoch)), r.deadline
	switch e.Outcome {
	case datasets.Replied:
		e.Outcome = datasets.Judge(e.Sent.Sub(due)+e.Elapsed, r.deadline)
	case datasets.TimedOut:
		// How much longer than promised we listened: so long this process was not run.
		e.Stall = max(0, r.now().Sub(due)-r.listen)
	case datasets.LostLocal:
		if r.failure == "" {
			r.failure = a.err.Error()
		}
		return
	default: // judged already
	}
	if r.lateness.n == 0 {
		r.first = e.Sent
	}
	r.lateness.add(e.Sent.Sub(due))
	r.last = e.Sent
}

// obey does what a kiss-o'-death asks for. Codes other than these say only that
// the server has no time to give.
func (r *exchangeRun) obey(kiss string) {
	switch kiss {
	case "RATE":
		r.kisses++
		r.pace.slow()
	case "DENY", "RSTR":
		r.stopped = fmt.Sprintf("the server refuses to serve us: kiss code %q", kiss)
	}
}

// trailer says how well the probe did what it was told.
func (r *exchangeRun) trailer() []datasets.Field {
	fields := []datasets.Field{count("sent", r.lateness.n)}
	if span := r.last.Sub(r.first); span > 0 {
		rate := float64(r.lateness.n-1) / span.Seconds()
		fields = append(fields, datasets.Field{Key: datasets.KeyRate, Value: strconv.FormatFloat(rate, 'g', 6, 64) + "/s"})
	}
	fields = append(fields, r.lateness.fields("lateness")...)
	fields = append(fields, count("skipped", r.pace.skipped), count(datasets.KeyUnfinished, r.unfinished))
	fields = append(fields, r.with.trailer()...)
	if r.kisses > 0 {
		fields = append(fields, count("kisses", r.kisses),
			datasets.Field{Key: "interval-at-end", Value: spec.Duration(r.pace.interval)})
	}
	if r.stopped != "" {
		fields = append(fields, datasets.Field{Key: "stopped", Value: r.stopped})
	}
	if r.failure != "" {
		fields = append(fields, datasets.Field{Key: "send-error", Value: r.failure})
	}
	return fields
}
