package datasets

import "time"

// When returns the instant that a row is of: an attempt's is when it was due. A row of a
// matrix has none.
func When(row Row) (Instant, bool) {
	if at := instantOf(row); at != nil {
		return *at, true
	}
	return 0, false
}

// Shift moves a row in time, as it is where its trace has another instant zero.
func Shift(row Row, by time.Duration) {
	if s, ok := sampleOf(row); ok {
		s.Due, s.Sent = s.Due.Add(by), s.Sent.Add(by)
		return
	}
	if at := instantOf(row); at != nil {
		*at = at.Add(by)
	}
}

func instantOf(row Row) *Instant {
	switch r := row.(type) {
	case *Sample:
		return &r.Due
	case *Exchange:
		return &r.Due
	case *Pause:
		return &r.At
	case *ClockReading:
		return &r.At
	case *Claim:
		return &r.At
	case *Point:
		return &r.At
	case *Bin:
		return &r.At
	}
	return nil
}

// OutcomeOf returns what became of what a row is of, and false for a row that is always
// of something that was.
func OutcomeOf(row Row) (Outcome, bool) {
	if s, ok := sampleOf(row); ok {
		return s.Outcome, true
	}
	if p, ok := row.(*Point); ok {
		return p.Outcome, true
	}
	return 0, false
}

// ParseOutcome reads the name of an outcome; an error lists them all.
func ParseOutcome(name string) (Outcome, error) {
	var o Outcome
	err := parseOutcome(&o, []byte(name))
	return o, err
}

// Renumber gives an attempt its place in a trace that is put together of several: row n,
// and a call that no other of the traces has.
func Renumber(row Row, n int64, trace, traces int) {
	if s, ok := sampleOf(row); ok {
		s.Seq, s.Call = n, s.Call*int64(traces)+int64(trace)
	}
}

// CallOf returns the call that an attempt belongs to; of other rows each is one.
func CallOf(row Row, n int64) int64 {
	if s, ok := sampleOf(row); ok {
		return s.Call
	}
	return n
}
