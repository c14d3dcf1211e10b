package plots

import (
	"sort"
	"time"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/datasets"
)

// spy is an estimator that draws what another one does: each timeout it sets, and
// each answered attempt that was slower than its own.
type spy struct {
	adaptive.Estimator
	timeouts, wrong *reducer
	open            []pending // attempts that left, by due time; those before first are forgotten
	first           int
	memory          time.Duration // how long an attempt is remembered
}

type pending struct {
	due     datasets.Instant
	timeout time.Duration
}

// forgetAfter is how long an answer may take for its attempt to be marked, where a
// trace does not say how long it listened.
const forgetAfter = 10 * time.Second

func newSpy(e adaptive.Estimator, listen time.Duration) *spy {
	if listen <= 0 {
		listen = forgetAfter
	}
	return &spy{Estimator: e, timeouts: newReducer(0), wrong: newReducer(0), memory: listen + time.Second}
}

// Timeout asks the estimator and keeps its answer.
func (s *spy) Timeout(at datasets.Instant) time.Duration {
	timeout := s.Estimator.Timeout(at)
	s.timeouts.add(at, timeout)
	for s.first < len(s.open) && at.Sub(s.open[s.first].due) > s.memory {
		s.first++
	}
	if s.first > 1024 && s.first > len(s.open)/2 {
		s.open = append(s.open[:0], s.open[s.first:]...)
		s.first = 0
	}
	s.open = append(s.open, pending{at, timeout})
	return timeout
}

// Observe marks an answer that came after its attempt's timeout.
func (s *spy) Observe(o adaptive.Observation) {
	s.Estimator.Observe(o)
	if o.Censored {
		return
	}
	due, open := o.At.Add(-o.Latency), s.open[s.first:]
	i := sort.Search(len(open), func(i int) bool { return open[i].due >= due })
	if i < len(open) && open[i].due == due && o.Latency > open[i].timeout {
		s.wrong.add(due, o.Latency)
	}
}
