package probes

import (
	"fmt"
	"sync"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// reflections is what a reflector tells of itself.
type reflections struct {
	mode string // how it is said to number

	mu       sync.Mutex // guards what follows
	sent     int64
	tests    int64 // of these, answered
	counts   bool  // it is stateful: a number was not its test's
	lost     losses
	failures int64 // of HMACs

	replies      int64
	synchronised int64         // of these, by a clock that claims to be
	unestimated  int64         // of these, without an error estimate
	off          time.Duration // the most that the others claim
}

func (r *reflections) left(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent += int64(n)
}

func (r *reflections) forged() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures++
}

// answered notes a reply, and whether it is the first to its test.
func (r *reflections) answered(p *wire.STAMPReflected, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies++
	if first {
		r.tests++
	}
	if p.Error.Synchronised() {
		r.synchronised++
	}
	if off, ok := p.Error.Duration(); ok {
		r.off = max(r.off, off)
	} else {
		r.unestimated++
	}
	r.counts = r.counts || p.Seq != p.Sender.Seq
	r.lost.answered(p.Sender.Seq, p.Seq, first)
}

// fields is what a trailer says of it.
func (r *reflections) fields() []datasets.Field {
	r.mu.Lock()
	defer r.mu.Unlock()
	there, back := r.lost.sums()
	how := r.mode
	switch {
	case how == unsaid && r.counts:
		how = stateful
	case how == unsaid:
		how = "stateless, or nothing was lost on the way there"
	}
	if how != stateful {
		there, back = 0, 0
	}
	fields := []datasets.Field{{Key: "reflector", Value: how}}
	if how == stateful || r.sent == r.tests {
		fields = append(fields, count("lost-forward", there), count("lost-backward", back), count("reflector-restarts", r.lost.restarts))
	}
	fields = append(fields, count("lost-undecided", max(0, r.sent-r.tests-there-back)), count("hmac-failures", r.failures))
	if r.replies == 0 {
		return fields
	}
	return append(fields,
		datasets.Field{Key: "reflector-synchronised", Value: fmt.Sprintf("%d of %d", r.synchronised, r.replies)},
		duration("reflector-error", r.off), count("reflector-error-missing", r.unestimated))
}

// losses counts by the numbers of a stateful reflector, which says with them how many it
// has sent: of the tests up to the last one answered all that it has no number for were
// lost on their way there, and of its numbers all that we have not seen, on their way back.
type losses struct {
	seen        []seenNumber // a ring, by the reflector's number
	part        part
	there, back int64 // in parts that are over
	restarts    int64
}

// part is the time from one beginning of the reflector's count to the next.
type part struct {
	id                     int64
	fromTest, toTest       uint32
	fromNumber, toNumber   uint32
	numbers, testsAnswered int64
}

// seenNumber is a number that was seen, in a part: 1 is the first.
type seenNumber struct {
	part         int64
	number, test uint32
}

func (l *losses) answered(test, number uint32, first bool) {
	s := &l.seen[number&uint32(len(l.seen)-1)]
	again := s.part == l.part.id && s.number == number
	switch {
	case l.part.id == 0: // the session is new to the reflector: it begins with 0
		l.part = part{id: 1, toTest: test, toNumber: number}
	case again && s.test == test:
		return // a copy, of the network's making
	case again, int32(l.part.toNumber-number) > int32(len(l.seen)):
		there, back := l.part.lost()
		l.there, l.back = l.there+there, l.back+back
		l.part = part{id: l.part.id + 1, fromTest: test, toTest: test, fromNumber: number, toNumber: number}
		l.restarts++
	}
	*s = seenNumber{l.part.id, number, test}
	p := &l.part
	p.numbers++
	if first {
		p.testsAnswered++
	}
	if int32(test-p.toTest) > 0 {
		p.toTest = test
	}
	if int32(number-p.toNumber) > 0 {
		p.toNumber = number
	}
}

// lost returns what was lost in a part. A test that came there more than once has more
// than one number.
func (p *part) lost() (there, back int64) {
	if p.id == 0 {
		return 0, 0
	}
	numbers := int64(p.toNumber-p.fromNumber) + 1
	copies := p.numbers - p.testsAnswered
	return max(0, int64(p.toTest-p.fromTest)+1-numbers+copies), max(0, numbers-p.numbers)
}

func (l *losses) sums() (there, back int64) {
	there, back = l.part.lost()
	return l.there + there, l.back + back
}
