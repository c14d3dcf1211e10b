package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// flight is one attempt that left.
type flight struct {
	at      datasets.Instant // what the queue it stands in is ordered by
	seq     int64
	due     datasets.Instant
	latency time.Duration // of the answer; without one, how long there was none
	attempt int32
	fate    fate
}

// fate is what a replay makes of an outcome.
type fate uint8

const (
	answered   fate = iota
	unanswered      // timed out: the latency is more than what we waited
	uncounted       // refused or not to be believed: it left, and that is all
)

// flightOf returns the flight of a sample that left, and when its end became known.
// Listen is how long an attempt without an answer was listened for, 0 if unknown:
// its deadline then stands for it.
func flightOf(s *datasets.Sample, listen time.Duration) (f flight, known datasets.Instant) {
	f = flight{seq: s.Seq, due: s.Due, attempt: int32(s.Attempt), fate: uncounted}
	if latency, ok := s.Latency(); ok {
		f.fate, f.latency = answered, latency
	} else if s.Outcome == datasets.TimedOut {
		f.fate, f.latency = unanswered, listen
		if listen <= 0 {
			f.latency, _ = s.Deadline.Value()
		}
	}
	return f, s.Due.Add(max(f.latency, 0))
}
