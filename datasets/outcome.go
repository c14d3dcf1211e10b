package datasets

import "time"

// Outcome is what became of one attempt.
type Outcome uint8

// The outcomes. Only Replied and Late have a latency.
const (
	Replied   Outcome = iota // an answer came in time, at the deadline included
	Late                     // an answer came after the deadline in force
	TimedOut                 // nothing came while we listened
	Refused                  // the other side said no: RST, ICMP unreachable
	Invalid                  // an answer came that we must not believe
	LostLocal                // we could not send
	outcomes
)

func outcomeNames() [outcomes]string {
	return [outcomes]string{"replied", "late", "timed-out", "refused", "invalid", "lost-local"}
}

func (o Outcome) String() string {
	if o < outcomes {
		return outcomeNames()[o]
	}
	return "outcome?"
}

// Answered reports whether an attempt with this outcome has a latency.
func (o Outcome) Answered() bool { return o == Replied || o == Late }

// Counts reports whether the attempt belongs in the denominator of a
// false-positive rate: all do but refused, invalid and lost-local ones.
func (o Outcome) Counts() bool { return o.Answered() || o == TimedOut }

// Judge returns Replied or Late for an answer that took latency from its due
// time; an answer at exactly the deadline is in time.
func Judge(latency time.Duration, deadline Optional[time.Duration]) Outcome {
	if d, ok := deadline.Value(); ok && latency > d {
		return Late
	}
	return Replied
}
