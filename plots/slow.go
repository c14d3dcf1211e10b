package plots

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ladder counts, in one pass, the calls above each of its thresholds and the
// episodes they come in, so that the threshold can be chosen once the whole series
// has been seen.
type ladder struct {
	limits []time.Duration // ascending
	slow   []episodes      // for each limit
	gap    time.Duration   // calm between slow calls that makes two episodes of one
}

// newLadder returns a ladder of one threshold, or, if that is 0, of 1, 2 and 5 times
// each power of ten from a microsecond to 500 s.
func newLadder(limit, gap time.Duration) *ladder {
	l := &ladder{gap: gap, limits: []time.Duration{limit}}
	if limit == 0 {
		l.limits = nil
		for p := time.Microsecond; p <= 100*time.Second; p *= 10 {
			l.limits = append(l.limits, p, 2*p, 5*p)
		}
	}
	l.slow = make([]episodes, len(l.limits))
	return l
}

// add takes a call that was due at an instant and took d.
func (l *ladder) add(due datasets.Instant, d time.Duration) {
	for i, limit := range l.limits {
		if d <= limit {
			return
		}
		l.slow[i].add(due, d, l.gap)
	}
}

// episodes are the slow calls above one threshold.
type episodes struct {
	calls, runs int64
	begin, end  datasets.Instant // of the run in progress: first due, last answer
	longest     time.Duration    // run, begin to end
	longestAt   datasets.Instant
}

func (e *episodes) add(due datasets.Instant, d, gap time.Duration) {
	if e.calls == 0 || due.Sub(e.end) > gap {
		e.runs++
		e.begin, e.end = due, due
	}
	e.calls++
	e.end = max(e.end, due.Add(d))
	if length := e.end.Sub(e.begin); length > e.longest {
		e.longest, e.longestAt = length, e.begin
	}
}

// above returns the index of the least threshold that is at least d, and false if d
// is beyond them all.
func (l *ladder) above(d time.Duration) (int, bool) {
	for i, limit := range l.limits {
		if limit >= d {
			return i, true
		}
	}
	return 0, false
}
