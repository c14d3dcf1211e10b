package datasets

import (
	"strconv"
	"time"
)

// Sample is one attempt: a row of an rtt trace.
type Sample struct {
	Seq      int64                   // number of the attempt in the trace
	Call     int64                   // the call it belongs to; retries share one
	Attempt  int                     // 1 for the first attempt of a call
	Due      Instant                 // when the schedule wanted it
	Sent     Instant                 // when it left
	Elapsed  time.Duration           // answer − Sent; meaningless unless Outcome.Answered
	Outcome  Outcome                 //
	Status   Optional[int]           // the protocol's own status, such as 503
	Copies   int                     // answers received: 2 is one duplicate
	Deadline Optional[time.Duration] // counts from Due
	Stall    time.Duration           // part of the latency that was our own scheduling delay, as far as known
	Inflight int                     // attempts outstanding when it left, itself included
	Size     int                     // bytes sent
	Extra    string                  // cells of columns this version does not know, tab-separated
}

// Latency returns the user's latency, (sent − due) + elapsed, and false for a
// sample that has none.
func (s *Sample) Latency() (time.Duration, bool) {
	return s.Sent.Sub(s.Due) + s.Elapsed, s.Outcome.Answered()
}

// Kind returns RTT.
func (s *Sample) Kind() Kind { return RTT }

func (s *Sample) columns() []string {
	return []string{
		"seq", "call", "attempt", "due", "sent", "elapsed", "outcome", "status",
		"copies", "deadline", "stall", "inflight", "size",
	}
}

const sampleColumns = 13

func (s *Sample) parse(column int, text []byte) error { //nolint:cyclop // one flat case a column
	switch column {
	case 0:
		return parseInt(&s.Seq, text)
	case 1:
		return parseInt(&s.Call, text)
	case 2:
		return parseInt(&s.Attempt, text)
	case 3:
		return parseInt(&s.Due, text)
	case 4:
		return parseInt(&s.Sent, text)
	case 5:
		if isAbsent(text) {
			s.Elapsed = noElapsed
			return nil
		}
		return parseInt(&s.Elapsed, text)
	case 6:
		return parseOutcome(&s.Outcome, text)
	case 7:
		return parseOptional(&s.Status, text)
	case 8:
		return parseInt(&s.Copies, text)
	case 9:
		return parseOptional(&s.Deadline, text)
	case 10:
		return parseInt(&s.Stall, text)
	case 11:
		return parseInt(&s.Inflight, text)
	default:
		return parseInt(&s.Size, text)
	}
}

func (s *Sample) append(dst []byte, column int) []byte { //nolint:cyclop // one flat case a column
	switch column {
	case 0:
		return strconv.AppendInt(dst, s.Seq, 10)
	case 1:
		return strconv.AppendInt(dst, s.Call, 10)
	case 2:
		return strconv.AppendInt(dst, int64(s.Attempt), 10)
	case 3:
		return strconv.AppendInt(dst, int64(s.Due), 10)
	case 4:
		return strconv.AppendInt(dst, int64(s.Sent), 10)
	case 5:
		if !s.Outcome.Answered() && s.Elapsed == 0 {
			return append(dst, '-')
		}
		return strconv.AppendInt(dst, int64(s.Elapsed), 10)
	case 6:
		return append(dst, s.Outcome.String()...)
	case 7:
		return appendOptional(dst, s.Status)
	case 8:
		return strconv.AppendInt(dst, int64(s.Copies), 10)
	case 9:
		return appendOptional(dst, s.Deadline)
	case 10:
		return strconv.AppendInt(dst, int64(s.Stall), 10)
	case 11:
		return strconv.AppendInt(dst, int64(s.Inflight), 10)
	default:
		return strconv.AppendInt(dst, int64(s.Size), 10)
	}
}

func (s *Sample) fields() []any {
	return []any{
		whole[int64]{&s.Seq},
		whole[int64]{&s.Call},
		whole[int]{&s.Attempt},
		whole[Instant]{&s.Due},
		whole[Instant]{&s.Sent},
		elapsed{s},
		outcomeField{&s.Outcome},
		perhaps[int]{&s.Status},
		whole[int]{&s.Copies},
		perhaps[time.Duration]{&s.Deadline},
		whole[time.Duration]{&s.Stall},
		whole[int]{&s.Inflight},
		whole[int]{&s.Size},
	}
}

func (s *Sample) extra() *string { return &s.Extra }
func (s *Sample) reset()         { *s = Sample{} }
