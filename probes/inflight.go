package probes

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/echo"
)

const (
	// grace is how long an answered attempt is held back, so that a duplicate of
	// its answer is counted in its row.
	grace = 100 * time.Millisecond
	// slack is how much later than its listening ends an attempt is given up:
	// packets of two receive queues may overtake each other by microseconds.
	slack = time.Millisecond

	fewestInflight = 1 << 8
	mostInflight   = 1 << 20 // 64 MiB
)

// attempt is what is known of one attempt.
type attempt struct {
	due, sent      datasets.Instant
	answered       datasets.Instant // when its first good answer was read
	stall          time.Duration    // our own delay: of the sending, and of the answer waiting to be read
	server, queued time.Duration    // how long the other side had it, and how long it lay there unread; −1 unknown
	t1, t2, t4     int64            // since 1970: left us, arrived there, came back; 0 unknown
	inflight       int32
	copies         int32
	outcome        datasets.Outcome // once settled
	left           bool             // the packet has left, or never will
	settled        bool
	doubtful       bool // an answer came that must not be believed
	stepped        bool // the wall clock stepped while it was in flight
}

// reading is when a packet was read, and what is known of its arrival.
type reading struct {
	at     datasets.Instant
	waited time.Duration // to be read
	t4     int64         // of its arrival, since 1970; 0 is unknown
}

// inflight holds the attempts from the moment they begin until they are handed
// over, and some longer, to know their stray answers. It is a ring: a full one
// takes no more, it never grows. It reads no clock.
type inflight struct {
	session uint64
	epoch   int64         // the wall clock at instant 0, since 1970
	size    int           // bytes of a packet
	listen  time.Duration // from due
	ring    []slot
	head    int64 // the first attempt that has not been handed over
	oldest  int64 // from head on, all before this one are settled
	next    int64 // the number of the next one
	waiting int32 // how many are neither answered nor given up

	// drained is the instant up to which everything that arrived has been seen.
	// Nothing is given up before it, so that a pause of ours is not taken for a loss.
	drained datasets.Instant

	steps  wallSteps
	strays strays
}

// strays counts what came in and is in no row.
type strays struct {
	junk       int64 // no packet of the echo, or no answer to anything sent
	doubtful   int64 // an answer of another session, of another size, or our own packet come back
	duplicates int64 // of an attempt already handed over
	late       int64 // after listening ended
	refusals   int64 // when nothing was open
}

// newInflight returns a ring with room for twice the attempts that a schedule of
// one per interval can have open at once.
func newInflight(session uint64, size int, interval, listen time.Duration) *inflight {
	want := 2 * int64(listen/interval+grace/interval)
	room := int64(fewestInflight)
	for room < want && room < mostInflight {
		room *= 2
	}
	return &inflight{session: session, size: size, listen: listen, ring: make([]slot, room)}
}

func (f *inflight) slot(seq int64) *slot { return &f.ring[seq&int64(len(f.ring)-1)] }

func (f *inflight) at(seq int64) attempt { return f.slot(seq).open(f.epoch) }

func (f *inflight) put(seq int64, a *attempt) { *f.slot(seq) = pack(a, f.epoch) }

// full reports whether no attempt can begin until one is handed over.
func (f *inflight) full() bool { return f.next-f.head >= int64(len(f.ring)) }

// begin makes room for an attempt and returns its number. There must be room.
func (f *inflight) begin(due datasets.Instant) int64 {
	seq := f.next
	f.next++
	f.waiting++
	f.put(seq, &attempt{due: due, inflight: f.waiting, server: -1, queued: -1})
	return seq
}

// leave notes when the attempt was sent. Its answer may have come already.
func (f *inflight) leave(seq int64, sent datasets.Instant) {
	a := f.at(seq)
	a.sent, a.left = sent, true
	f.put(seq, &a)
}

// depart notes the stamp of the attempt's departure, since 1970.
func (f *inflight) depart(seq, t1 int64) {
	if seq < f.head {
		return
	}
	a := f.at(seq)
	a.t1 = t1
	f.put(seq, &a)
}

// lose notes that the attempt was not sent.
func (f *inflight) lose(seq int64, at datasets.Instant) {
	a := f.at(seq)
	a.sent, a.left = at, true
	f.settle(seq, &a, datasets.LostLocal)
}

// refuse notes that the other side said no to an attempt before end. It does not
// say to which: the one that has waited longest is taken.
func (f *inflight) refuse(end int64) {
	// What is settled stays so: none is looked at twice, however many there are.
	for f.oldest = max(f.oldest, f.head); f.oldest < end; f.oldest++ {
		if f.slot(f.oldest).flags&isSettled == 0 {
			a := f.at(f.oldest)
			f.settle(f.oldest, &a, datasets.Refused)
			return
		}
	}
	f.strays.refusals++
}

// deny notes that the latest attempt whose number ends in these bits was refused.
func (f *inflight) deny(last uint16) {
	seq := f.next - 1 - int64(uint16(f.next-1)-last)
	a := f.at(seq)
	if seq < f.head || a.settled {
		f.strays.refusals++
		return
	}
	f.settle(seq, &a, datasets.Refused)
}

func (f *inflight) settle(seq int64, a *attempt, o datasets.Outcome) {
	if !a.settled {
		f.waiting--
	}
	a.outcome, a.settled = o, true
	f.put(seq, a)
}

// arrive takes a packet. An answer that must not be believed does not spoil a good one.
func (f *inflight) arrive(b []byte, r reading) {
	f.drain(r.at.Add(-r.waited))
	p, err := echo.Parse(b)
	seq := int64(p.Seq)
	switch {
	case err != nil || seq < 0 || seq >= f.next:
		f.strays.junk++
	case seq < f.next-int64(len(f.ring)): // forgotten
		f.strays.late++
	case p.Session != f.session || !p.Reply || len(b) != f.size:
		f.strays.doubtful++
		f.slot(seq).flags |= isDoubtful
	default:
		f.answer(seq, &p, r)
	}
}

func (f *inflight) answer(seq int64, p *echo.Packet, r reading) {
	a := f.at(seq)
	switch {
	case a.settled && a.outcome.Answered():
		a.copies++
		f.put(seq, &a)
		if seq < f.head {
			f.strays.duplicates++
		}
	case seq < f.head, r.at.Add(-r.waited).Sub(a.due) > f.listen:
		f.strays.late++
	default:
		sent := max(a.due, a.sent)
		a.answered, a.copies = r.at, 1
		// A step of the wall clock, which the wait is taken from, must not make it
		// longer than the whole round trip.
		a.stall = sent.Sub(a.due) + min(r.waited, r.at.Sub(sent))
		a.server, a.queued = served(p)
		a.t2, a.t4 = p.ServerReceivedWall, r.t4
		outcome := datasets.Replied
		if a.stepped = f.steps.within(sent, r.at); a.stepped {
			outcome = datasets.Invalid
		}
		f.settle(seq, &a, outcome)
	}
}

// served returns how long the server had the request after reading it, and how
// long the request had lain there unread; −1 is unknown.
func served(p *echo.Packet) (server, queued time.Duration) {
	server, queued = time.Duration(p.ServerSent-p.ServerReceived), time.Duration(p.ServerQueued)
	if server < 0 || p.ServerReceived == 0 {
		server = -1
	}
	if queued <= 0 {
		queued = -1
	}
	return server, queued
}

// drain notes that everything that arrived up to t has been seen.
func (f *inflight) drain(t datasets.Instant) { f.drained = max(f.drained, t) }

// handOver calls yield for attempts whose row is final, in the order of their
// numbers, at most limit of them. Keeping the order costs a row up to listen of
// delay, and buys that a recording cut short has no more slow attempts missing
// than fast ones.
func (f *inflight) handOver(limit int, yield func(seq int64, a attempt)) {
	for ; f.head < f.next && limit > 0; limit-- {
		a := f.at(f.head)
		if !f.final(f.head, &a) {
			return
		}
		yield(f.head, a)
		f.head++
	}
}

func (f *inflight) final(seq int64, a *attempt) bool {
	closed := f.drained.Sub(a.due) > f.listen+slack
	switch {
	case !a.left:
		return false
	case a.settled:
		return closed || !a.outcome.Answered() || f.drained.Sub(a.answered) >= grace
	case closed && a.doubtful:
		f.settle(seq, a, datasets.Invalid)
	case closed:
		f.settle(seq, a, datasets.TimedOut)
	}
	return closed
}

// abandon calls yield for every attempt whose outcome is known and returns how
// many were still open.
func (f *inflight) abandon(yield func(seq int64, a attempt)) (unfinished int64) {
	for ; f.head < f.next; f.head++ {
		if a := f.at(f.head); f.final(f.head, &a) || a.left && a.settled {
			yield(f.head, a)
		} else {
			unfinished++
		}
	}
	return unfinished
}
