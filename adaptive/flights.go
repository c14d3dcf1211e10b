package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// event is an attempt that leaves, or what became known of one. It and a flight are
// small enough to travel in registers: of more than four fields, or a bool more, they
// would go through memory at twice the cost.
type event struct {
	at      datasets.Instant
	latency time.Duration // of the answer; without one, how long there was none
	attempt int32
	kind    kind
}

type kind uint8

const (
	answered   kind = iota // leaves, and will be answered
	unanswered             // leaves, and will time out: the latency is more than what we waited
	uncounted              // leaves, and that is all: refused, or not to be believed
	arrival                // the answer arrived
	silence                // listening for an answer ended
)

// flight is an event that is yet to come. Those of one instant come by number.
type flight struct {
	event
	seq int64
}

func before(a, b *flight) bool { return a.at < b.at || a.at == b.at && a.seq < b.seq }

// flightOf returns the leaving of a sample that left. Listen is how long an attempt
// without an answer was listened for, 0 if unknown: its deadline then stands for it.
func flightOf(s *datasets.Sample, listen time.Duration) flight {
	e := event{at: s.Due, attempt: int32(s.Attempt), kind: uncounted}
	if latency, ok := s.Latency(); ok {
		e.kind, e.latency = answered, latency
	} else if s.Outcome == datasets.TimedOut {
		e.kind, e.latency = unanswered, listen
		if listen <= 0 {
			e.latency, _ = s.Deadline.Value()
		}
	}
	return flight{e, s.Seq}
}
