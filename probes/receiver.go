package probes

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

// mostErrors is how many reads may fail in a row before a socket is given up. A refusal is
// no such failure: it is an answer of the network.
const mostErrors = 1000

// receiver takes what arrives.
type receiver struct {
	flight   *flight
	batch    []stamp.Message
	failures int
	looked   time.Time // when a reading began that was told no refusal
}

func newReceiver(f *flight) *receiver {
	return &receiver{flight: f, batch: messages(f.open.size + 1)} // one byte more shows a packet that is too long
}

// receive takes what has arrived, and if that is nothing waits for it until a moment.
func (r *receiver) receive(until time.Time) error {
	f := r.flight
	before := time.Now()
	if f.spin.begins(before) {
		_ = f.conn.SetReadDeadline(f.epoch) // do not wait
		for ; f.spin.lasts(before); before = time.Now() {
			if n, err := f.conn.ReadBatch(r.batch); !errors.Is(err, os.ErrDeadlineExceeded) {
				return r.took(n, err, before)
			}
		}
	}
	if err := f.conn.SetReadDeadline(until); err != nil {
		return nil // closed
	}
	n, err := f.conn.ReadBatch(r.batch)
	if isRefusal(err) && before.Sub(r.looked) > tick {
		// A refusal does not say whether something else is there. Where many come, no
		// reading might ever tell of anything else.
		if err := r.took(n, err, before); err != nil {
			return err
		}
		before = time.Now()
		_ = f.conn.SetReadDeadline(f.epoch) // do not wait
		n, err = f.conn.ReadBatch(r.batch)
	}
	return r.took(n, err, before)
}

// took takes what one reading gave that began at a moment.
func (r *receiver) took(n int, err error, before time.Time) error {
	f := r.flight
	switch {
	case err == nil:
		r.failures, r.looked = 0, before
		f.spin.answered(r.batch[0].Arrival.Mono)
		f.arrived(r.batch[:n])
		if n < len(r.batch) {
			f.silent(before)
		}
	case errors.Is(err, net.ErrClosed):
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.failures, r.looked = 0, before
		f.silent(before)
	case isRefusal(err):
		r.failures = 0
		f.refusedBy(err)
	default:
		if r.failures++; r.failures == mostErrors {
			return fmt.Errorf("socket: %d reads failed in a row: %w", r.failures, err)
		}
		f.refusedBy(err)
	}
	return nil
}

// refusedBy notes whose refusal an error is.
func (f *flight) refusedBy(err error) {
	var r *refusal
	if !errors.As(err, &r) {
		f.refused(math.MaxInt64)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.deny(r.seq)
}

func (f *flight) arrived(in []stamp.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.steps.look(f.clocks)
	for i := range in {
		a := &in[i].Arrival
		r := reading{at: datasets.Instant(a.Mono.Sub(f.epoch)), waited: a.Waited}
		if a.Wall.Source() != datasets.User {
			r.t4, _ = a.Wall.UnixNanos()
		}
		f.open.arrive(in[i].Buf[:a.N], r)
		f.dropped = a.Dropped
	}
}

// silent notes that nothing lay unread at t.
func (f *flight) silent(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := datasets.Instant(t.Sub(f.epoch))
	f.open.drain(at)
}

// refused notes that an attempt before end was refused.
func (f *flight) refused(end int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.refuse(min(end, f.open.next))
}
