package probes

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
)

// sender sends attempts when they are due, as many together as are.
type sender struct {
	flight  *flight
	next    *cursor
	batch   []stamp.Message // room for packets
	seqs    []int64         // of those to be sent now
	dues    []datasets.Instant
	stopped bool        // the last call sent less than it was given, and there was room
	full    bool        // no more can be in flight until rows are handed over
	away    []departing // sent, and without a stamp so far
	gone    []departing // sent, and with a stamp that is in no row yet
}

// departing is an attempt on its way out: the number of its packet, its stamp.
type departing struct {
	seq    int64
	number uint32
	t1     int64
}

// mostRefusals is how many refusals a packet may meet on its way out: as many as one call
// may have caused.
const mostRefusals = stamp.MostBatched

// mostAway is how many departures are waited for while the first of them is missing: some
// drivers hand the stamps of two queues out in another order, others none at all.
const mostAway = stamp.MostRemembered / 2

func newSender(f *flight) *sender {
	return &sender{flight: f, next: f.schedule.start(), batch: messages(f.open.size)}
}

// messages returns room for as many packets of a size as are worth handling together.
func messages(size int) []stamp.Message {
	const most = 1 << 20
	n := max(1, min(stamp.MostBatched, most/size))
	room := make([]byte, n*size)
	batch := make([]stamp.Message, n)
	for i := range batch {
		batch[i].Buf = room[i*size : (i+1)*size]
	}
	return batch
}

// send sends what is due.
func (s *sender) send() {
	s.begin()
	for len(s.seqs) > 0 {
		s.transmit()
	}
	s.depart()
}

// begin makes room for what is due, as far as there is.
func (s *sender) begin() {
	f := s.flight
	now := f.now()
	s.seqs, s.dues = s.seqs[:0], s.dues[:0]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open.steps.look(f.clocks)
	for ; !s.next.over && s.next.due <= now && len(s.seqs) < len(s.batch); s.next.step() {
		if s.full = f.open.full(); s.full {
			return
		}
		due := s.next.due
		seq := f.open.begin(due)
		if now.Sub(due) > f.open.listen {
			f.sent.skipped++
			f.open.lose(seq, now)
			continue
		}
		p := echo.Packet{Session: f.open.session, Seq: uint64(seq), ClientSent: int64(now)}
		p.Append(s.batch[len(s.seqs)].Buf[:0])
		s.seqs, s.dues = append(s.seqs, seq), append(s.dues, due)
	}
}

// wakes returns when there is something to be sent again.
func (s *sender) wakes() datasets.Instant {
	now := s.flight.now()
	switch {
	case s.next.over:
		return now.Add(tick)
	case s.full:
		return now.Add(time.Millisecond)
	}
	return min(s.next.due, now.Add(tick))
}

// transmit sends what was begun, or notes that the first of it cannot be sent.
func (s *sender) transmit() {
	f := s.flight
	var n int
	var first uint32
	var err error
	var sent time.Time
	all := len(s.seqs)
	for range mostRefusals {
		sent = time.Now()
		if n, first, err = f.conn.SendBatch(s.batch[:all]); n > 0 || !s.refusedBefore(err) {
			break
		}
	}
	if n > 0 && s.stopped {
		// What stopped the call before, without a word, was one of an earlier packet.
		f.refused(s.seqs[0])
	}
	f.spin.sent(sent)
	if s.stopped = errors.Is(err, stamp.ErrStopped); s.stopped {
		err = nil
	}
	s.note(n, first, datasets.Instant(sent.Sub(f.epoch)), err)
	n = max(n, 1)
	s.seqs, s.dues = slices.Delete(s.seqs, 0, n), slices.Delete(s.dues, 0, n)
	for i := range s.seqs {
		copy(s.batch[i].Buf, s.batch[n+i].Buf[:echo.Size])
	}
}

// refusedBefore reports whether a call that sent nothing may have told of an earlier packet
// only, and is worth another.
func (s *sender) refusedBefore(err error) bool {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		s.flight.refused(s.seqs[0])
		return true
	case s.stopped || !isRefusal(err):
		return false
	}
	s.stopped = true // if the next one sends it
	return true
}

func (s *sender) note(n int, first uint32, sent datasets.Instant, err error) {
	f := s.flight
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.sent.refused(err)
		f.open.lose(s.seqs[0], sent)
		return
	}
	for i := range n {
		f.sent.left(s.dues[i], sent)
		f.open.leave(s.seqs[i], sent)
		if f.departures {
			s.away = append(s.away, departing{seq: s.seqs[i], number: first + uint32(i)})
		}
	}
}

// depart notes the stamps of departures that have come.
func (s *sender) depart() {
	s.gone = s.gone[:0]
	n := 0
	for ; n < len(s.away); n++ {
		d := s.away[n]
		at, err := s.flight.conn.Departure(d.number, time.Time{})
		if err == nil {
			d.t1, _ = at.UnixNanos()
			s.gone = append(s.gone, d)
		} else if len(s.away)-n <= mostAway {
			break
		}
	}
	if n == 0 {
		return
	}
	s.away = append(s.away[:0], s.away[n:]...)
	f := s.flight
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range s.gone {
		f.open.depart(d.seq, d.t1)
	}
	f.departed += int64(len(s.gone))
}

// fly sends and receives until ctx is done or the socket fails. One goroutine does both,
// on a thread of its own: what is due, and what has come, are handled together, and in
// between it waits once for either.
func (f *flight) fly(ctx context.Context, allSent chan<- struct{}) error {
	sharpen()
	s, r := newSender(f), newReceiver(f)
	sending := true
	defer func() {
		if sending {
			close(allSent)
		}
	}()
	for ctx.Err() == nil {
		s.send()
		if sending && s.next.over {
			sending = false
			close(allSent)
		}
		if err := r.receive(f.epoch.Add(time.Duration(s.wakes()))); err != nil {
			return err
		}
	}
	return nil
}
