package datasets

import (
	"math"
	"time"
)

// parquetTrips makes round trips of a batch in one go, without a call for each value. What
// no row can have is left to the slow way, which says what is wrong. Both give the same
// rows, which TestParquetTrips holds.
type parquetTrips struct {
	seq, call, attempt, due, sent, elapsed, status, copies, deadline, stall, inflight, size []int64
	answered, told, limited                                                                 []bool // whether elapsed, status and deadline are there; nil: all are
	outcome                                                                                 []int32
	meaning                                                                                 []Outcome // of the words
	words                                                                                   []string
	nothing                                                                                 []int64 // in place of columns that are not read
	nowhere                                                                                 []bool
	slow                                                                                    bool // the batch is none for this way
}

// newParquetTrips returns nil where rows cannot be made so.
func newParquetTrips(row Row, plan *parquetRows) *parquetTrips {
	if _, ok := row.(*Sample); !ok || len(plan.extra) > 0 || len(plan.words) != 1 || math.MaxInt == math.MaxInt32 {
		return nil
	}
	return &parquetTrips{}
}

// take makes the columns of the batch ready.
func (t *parquetTrips) take(r *parquetRows, n int) {
	for len(t.nothing) < n {
		t.nothing, t.nowhere = make([]int64, maxBatch), make([]bool, maxBatch)
	}
	into := []*[]int64{
		&t.seq, &t.call, &t.attempt, &t.due, &t.sent, &t.elapsed, nil, &t.status, &t.copies, &t.deadline, &t.stall, &t.inflight, &t.size,
	}
	for _, to := range into {
		if to != nil {
			*to = t.nothing[:n]
		}
	}
	t.told, t.limited, t.slow = t.nowhere[:n], t.nowhere[:n], false
	for i := range r.wholes {
		c := &r.wholes[i]
		*into[c.of] = c.values
		switch c.name {
		case "elapsed":
			t.answered = c.present
		case "status":
			t.told = c.present
		case "deadline":
			t.limited = c.present
		default:
			t.slow = t.slow || c.present != nil // one is absent that must not be
		}
	}
	t.takeOutcomes(&r.words[0])
}

// takeOutcomes finds out what the words mean; one that is no outcome means too many.
func (t *parquetTrips) takeOutcomes(c *rowColumn[int32, wordField]) {
	t.outcome = c.values
	words := c.lexicon.words
	if c.present != nil || len(words) == 0 {
		t.slow = true
		return
	}
	if len(t.words) == len(words) && &t.words[0] == &words[0] {
		return
	}
	t.words, t.meaning = words, nil
	for _, word := range words {
		o := outcomes
		if parseOutcome(&o, []byte(word)) != nil {
			o = outcomes
		}
		t.meaning = append(t.meaning, o)
	}
}

// read makes the at-th row, and returns false if it has to be read the slow way.
func (t *parquetTrips) read(s *Sample, at int) bool {
	if t.slow {
		return false
	}
	*s = Sample{
		Seq: t.seq[at], Call: t.call[at], Attempt: int(t.attempt[at]), Due: Instant(t.due[at]), Sent: Instant(t.sent[at]),
		Outcome: t.meaning[t.outcome[at]],
		Copies:  int(t.copies[at]), Stall: time.Duration(t.stall[at]), Inflight: int(t.inflight[at]), Size: int(t.size[at]),
	}
	if s.Outcome == outcomes || s.Seq == math.MinInt64 || s.Call == math.MinInt64 || t.status[at] == math.MinInt64 {
		return false
	}
	if there(t.answered, at) {
		s.Elapsed = time.Duration(t.elapsed[at])
	} else if s.Outcome.Answered() {
		return false
	}
	if there(t.told, at) {
		s.Status = Some(int(t.status[at]))
	}
	if there(t.limited, at) {
		s.Deadline = Some(time.Duration(t.deadline[at]))
	}
	return s.Elapsed != noElapsed
}

func there(present []bool, at int) bool { return present == nil || present[at] }
