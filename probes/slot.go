package probes

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// slot is an attempt in 64 bytes, of which a probe at 50,000 a second keeps a hundred
// thousand and more. Times since due are kept in fewer bytes than 8; what does not fit,
// days, becomes the nearest that does.
type slot struct {
	due      datasets.Instant
	t2       int64
	sent     signed48
	answered signed48
	t1, t4   signed48 // since due, had the wall clock not been set since the epoch
	stall    unsigned40
	server   unsigned40
	queued   unsigned40
	inflight [3]uint8 // < mostInflight
	copies   uint8    // at most 255 are counted
	outcome  datasets.Outcome
	flags    uint8
}

// What flags of a slot say.
const (
	hasLeft = 1 << iota
	isSettled
	isDoubtful
	isStepped
	hasT1
	hasT4
)

// pack makes a slot of an attempt. The epoch is what the wall clock said at instant 0.
func pack(a *attempt, epoch int64) (s slot) {
	s.due, s.t2 = a.due, a.t2
	s.sent.set(a.sent.Sub(a.due))
	s.answered.set(a.answered.Sub(a.due))
	s.stall.set(a.stall)
	s.server.set(a.server)
	s.queued.set(a.queued)
	s.inflight = [3]uint8{uint8(a.inflight), uint8(a.inflight >> 8), uint8(a.inflight >> 16)}
	s.copies = uint8(min(a.copies, 255))
	s.outcome = a.outcome
	for i, flag := range [...]bool{a.left, a.settled, a.doubtful, a.stepped, a.t1 != 0, a.t4 != 0} {
		if flag {
			s.flags |= 1 << i
		}
	}
	epoch += int64(a.due)
	s.t1.set(time.Duration(a.t1 - epoch))
	s.t4.set(time.Duration(a.t4 - epoch))
	return s
}

func (s *slot) open(epoch int64) attempt {
	a := attempt{
		due: s.due, sent: s.due.Add(s.sent.get()), answered: s.due.Add(s.answered.get()),
		t2:    s.t2,
		stall: s.stall.get(), server: s.server.get(), queued: s.queued.get(),
		inflight: int32(s.inflight[0]) | int32(s.inflight[1])<<8 | int32(s.inflight[2])<<16,
		copies:   int32(s.copies), outcome: s.outcome,
		left: s.flags&hasLeft != 0, settled: s.flags&isSettled != 0, doubtful: s.flags&isDoubtful != 0, stepped: s.flags&isStepped != 0,
	}
	epoch += int64(a.due)
	if s.flags&hasT1 != 0 {
		a.t1 = epoch + int64(s.t1.get())
	}
	if s.flags&hasT4 != 0 {
		a.t4 = epoch + int64(s.t4.get())
	}
	return a
}

// signed48 is a time of up to 39 hours, either way, in nanoseconds.
type signed48 [6]uint8

func (b *signed48) set(d time.Duration) {
	d = max(-1<<47, min(d, 1<<47-1))
	*b = signed48{uint8(d), uint8(d >> 8), uint8(d >> 16), uint8(d >> 24), uint8(d >> 32), uint8(d >> 40)}
}

func (b *signed48) get() time.Duration {
	low := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40
	return time.Duration(int64(low<<16) >> 16)
}

// unsigned40 is a time of up to 18 minutes in nanoseconds, or an unknown one, below 0.
type unsigned40 [5]uint8

const unknown40 = 1<<40 - 1

func (b *unsigned40) set(d time.Duration) {
	if d < 0 {
		d = unknown40
	} else {
		d = min(d, unknown40-1)
	}
	*b = unsigned40{uint8(d), uint8(d >> 8), uint8(d >> 16), uint8(d >> 24), uint8(d >> 32)}
}

func (b *unsigned40) get() time.Duration {
	d := time.Duration(b[0]) | time.Duration(b[1])<<8 | time.Duration(b[2])<<16 | time.Duration(b[3])<<24 | time.Duration(b[4])<<32
	if d == unknown40 {
		return -1
	}
	return d
}
