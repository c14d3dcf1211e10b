package probes

import (
	"sync"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// stalls watches for the times in which this process was not run, beside a probe whose
// samples they would falsify: it sleeps for a short while, over and over, and what it
// oversleeps is a stall. What a sample contains of one was ours.
type stalls struct {
	epoch time.Time
	done  chan struct{}
	ended sync.WaitGroup

	mu    sync.Mutex
	seen  []stall // in the order of their ends, the last few of them
	count int64
	total time.Duration
}

type stall struct{ from, to datasets.Instant }

const (
	// stallEvery is how long a sleep lasts: 100 a second cost 1 % of a core.
	stallEvery = 10 * time.Millisecond
	// stallLeast is the least overrun that is taken for a stall: what an idle machine
	// oversleeps stays below it.
	stallLeast = 2 * time.Millisecond
	mostStalls = 1024
)

func watchStalls(epoch time.Time) *stalls {
	s := &stalls{epoch: epoch, done: make(chan struct{})}
	s.ended.Go(s.watch)
	return s
}

func (s *stalls) watch() {
	timer := time.NewTimer(stallEvery)
	defer timer.Stop()
	for {
		due := time.Now().Add(stallEvery)
		timer.Reset(stallEvery)
		select {
		case <-s.done:
			return
		case <-timer.C:
		}
		if now := time.Now(); now.Sub(due) >= stallLeast {
			s.add(stall{datasets.Instant(due.Sub(s.epoch)), datasets.Instant(now.Sub(s.epoch))})
		}
	}
}

func (s *stalls) add(w stall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.total += w.to.Sub(w.from)
	if len(s.seen) == mostStalls {
		s.seen = append(s.seen[:0], s.seen[mostStalls/2:]...)
	}
	s.seen = append(s.seen, w)
}

// within returns how long this process was not run between two instants, as far as a
// sleep of 10 ms tells.
func (s *stalls) within(from, to datasets.Instant) (total time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.seen) - 1; i >= 0 && s.seen[i].to > from; i-- {
		w := s.seen[i]
		total += max(0, min(w.to, to).Sub(max(w.from, from)))
	}
	return total
}

func (s *stalls) fields() []datasets.Field {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []datasets.Field{count("stalls", s.count), duration("stalled", s.total)}
}

func (s *stalls) stop() {
	close(s.done)
	s.ended.Wait()
}
