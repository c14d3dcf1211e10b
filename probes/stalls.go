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
	due   time.Time // when the present sleep should end
	seen  []stall   // in the order of their ends, the last few of them
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
		due := s.sleep()
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

// sleep begins a sleep and returns when it should end.
func (s *stalls) sleep() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = time.Now().Add(stallEvery)
	return s.due
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
// sleep of 10 ms tells. Who asks may have been woken before who watches.
func (s *stalls) within(from, to datasets.Instant) (total time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); !s.due.IsZero() && now.Sub(s.due) >= stallLeast {
		w := stall{datasets.Instant(s.due.Sub(s.epoch)), datasets.Instant(now.Sub(s.epoch))}
		total = w.within(from, to)
	}
	for i := len(s.seen) - 1; i >= 0 && s.seen[i].to > from; i-- {
		total += s.seen[i].within(from, to)
	}
	return total
}

// within returns how much of a stall lies between two instants.
func (w stall) within(from, to datasets.Instant) time.Duration {
	return max(0, min(w.to, to).Sub(max(w.from, from)))
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
