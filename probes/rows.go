package probes

import (
	"errors"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// mostRows is how many rows are taken from the ring while it is locked.
const mostRows = 256

// rows makes the attempts of a flight into samples and records them.
type rows struct {
	flight *flight
	rec    Recorder
	batch  []numbered
	sample datasets.Sample
	extra  []byte
}

type numbered struct {
	seq int64
	attempt
}

func newRows(f *flight, rec Recorder) *rows {
	return &rows{flight: f, rec: rec, batch: make([]numbered, 0, mostRows)}
}

// handOver records what is final and returns how many attempts are still open.
func (r *rows) handOver() (open int64, err error) {
	for full := true; full; {
		r.flight.mu.Lock()
		r.flight.open.handOver(mostRows, r.take)
		open = r.flight.open.next - r.flight.open.head
		r.flight.mu.Unlock()
		full = len(r.batch) == mostRows
		if err := r.record(); err != nil {
			return 0, err
		}
	}
	return open, nil
}

// abandon records all that is known, and returns how many attempts are not.
func (r *rows) abandon() (unfinished int64, err error) {
	r.flight.mu.Lock()
	unfinished = r.flight.open.abandon(r.take)
	r.flight.mu.Unlock()
	return unfinished, r.record()
}

func (r *rows) take(seq int64, a attempt) { r.batch = append(r.batch, numbered{seq, a}) }

func (r *rows) record() error {
	holder, ok := r.rec.(Holder)
	if !ok || len(r.batch) < 2 {
		return r.recordEach()
	}
	holder.Hold()
	return errors.Join(r.recordEach(), holder.Release())
}

func (r *rows) recordEach() error {
	for i := range r.batch {
		r.fill(&r.batch[i])
		if err := r.rec.Record(&r.sample); err != nil {
			return err
		}
	}
	r.batch = r.batch[:0]
	return nil
}

func (r *rows) fill(a *numbered) {
	r.sample = datasets.Sample{
		Seq: a.seq, Call: a.seq, Attempt: 1,
		Due: a.due, Sent: a.sent,
		Outcome: a.outcome, Copies: int(a.copies), Deadline: r.flight.deadlines.of(a.seq),
		Stall: a.stall, Inflight: int(a.inflight), Size: r.flight.open.size,
	}
	if r.flight.payload > 0 {
		r.sample.Size = r.flight.payload
	}
	if a.outcome == datasets.LostLocal {
		r.sample.Size = 0
	}
	if a.outcome.Answered() {
		r.sample.Elapsed = a.answered.Sub(a.sent)
		r.sample.Outcome = datasets.Judge(a.answered.Sub(a.due), r.sample.Deadline)
	}
	if r.flight.cells != nil {
		r.extra = r.flight.cells(r.extra[:0], &a.attempt)
		r.sample.Extra = string(r.extra)
	}
}

// appendKnown writes a duration, or - for a negative one.
func appendKnown(dst []byte, d time.Duration) []byte {
	if d < 0 {
		return append(dst, '-')
	}
	return strconv.AppendInt(dst, int64(d), 10)
}
