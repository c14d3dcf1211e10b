package probes

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/echo"
)

// send sends every attempt when it is due. It does not lock its thread: waking a
// locked one takes 20 µs longer.
func (f *flight) send(ctx context.Context) {
	sleeper := newSleeper()
	defer sleeper.close()
	buf := make([]byte, f.open.size)
	for _, due := range f.schedule.all() {
		sleeper.until(ctx, f.epoch.Add(time.Duration(due)))
		seq, ok := f.begin(ctx, sleeper, due)
		if !ok {
			return
		}
		if now := f.now(); now.Sub(due) > f.open.listen {
			f.skip(seq, now)
			continue
		}
		sent, err := f.transmit(seq, buf)
		f.note(seq, due, sent, err)
	}
}

// begin waits for room, and is false once ctx is done.
func (f *flight) begin(ctx context.Context, sleeper *sleeper, due datasets.Instant) (seq int64, ok bool) {
	for ctx.Err() == nil {
		f.mu.Lock()
		if ok = !f.open.full(); ok {
			seq = f.open.begin(due)
		}
		f.mu.Unlock()
		if ok {
			return seq, true
		}
		sleeper.nap(time.Millisecond)
	}
	return 0, false
}

// transmit writes the packet of attempt seq and returns when it did.
func (f *flight) transmit(seq int64, buf []byte) (sent datasets.Instant, err error) {
	p := echo.Packet{Session: f.open.session, Seq: uint64(seq)}
	for range 3 {
		sent = f.now()
		p.ClientSent = int64(sent)
		p.Append(buf[:0])
		_, err = f.conn.Write(buf)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		// The write told of an earlier packet, and sent nothing.
		f.refused(seq)
	}
	return sent, err
}

func (f *flight) note(seq int64, due, sent datasets.Instant, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.sent.refused(err)
		f.open.lose(seq, sent)
		return
	}
	f.sent.left(due, sent)
	f.open.leave(seq, sent)
}

func (f *flight) skip(seq int64, now datasets.Instant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent.skipped++
	f.open.lose(seq, now)
}
