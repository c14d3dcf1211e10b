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

// mostErrors is how many reads may fail in a row before a socket is given up.
const mostErrors = 1000

// receive reads until the socket is closed.
func (f *flight) receive() error {
	buf := make([]byte, f.open.size+1) // one byte more shows a packet that is too long
	var until time.Time
	for failures := 0; ; {
		before := time.Now()
		if !before.Before(until) {
			until = before.Add(tick)
			if err := f.conn.SetReadDeadline(until); err != nil {
				return nil // closed
			}
		}
		a, err := f.conn.Read(buf)
		switch {
		case err == nil:
			failures = 0
			f.arrived(buf[:a.N], a)
		case errors.Is(err, net.ErrClosed):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			failures = 0
			// A read that began just before the deadline may not have looked.
			if until.Sub(before) > tick/2 {
				f.silent(before)
			}
		default:
			// What a read of a connected socket tells is an ICMP error.
			if failures++; failures == mostErrors {
				return fmt.Errorf("socket: %d reads failed in a row: %w", failures, err)
			}
			f.refusedBy(err)
		}
	}
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

func (f *flight) arrived(b []byte, a stamp.Arrival) {
	at := datasets.Instant(a.Mono.Sub(f.epoch))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.arrive(b, at, a.Waited)
	f.dropped = a.Dropped
}

// silent notes that nothing lay unread at t.
func (f *flight) silent(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.drain(datasets.Instant(t.Sub(f.epoch)))
}

// refused notes that an attempt before end was refused.
func (f *flight) refused(end int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.refuse(min(end, f.open.next))
}
