package gen

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Pauses is when a server stops, one stop after the other.
type Pauses struct {
	Kind   string        // periodic, poisson or heap
	Every  time.Duration // from the beginning of one to that of the next, on average
	Length time.Duration // of each; of a heap's the longest
}

// heapSteps is how many times a heap's pauses grow until all of it is collected.
const heapSteps = 10

// PauseKinds names the kinds of pauses: at equal distances, at random ones (never before
// the last has ended), and growing with what the heap keeps, from a tenth of the length to
// all of it and back.
func PauseKinds() []string { return []string{"none", "periodic", "poisson", "heap"} }

// window is one stop.
type window struct{ start, end time.Duration }

// stops makes windows as far as they are looked at, and forgets those that are over.
type stops struct {
	Pauses
	r     *rand.Rand
	n     int // made so far
	last  window
	ahead []window
}

func (p Pauses) check() error {
	if p.Kind != "none" && (p.Every <= 0 || p.Length <= 0 || p.Length >= p.Every) {
		return fmt.Errorf("pauses of %v every %v: want positive ones, shorter than their distance", p.Length, p.Every)
	}
	return nil
}

// window returns the i-th of those that are not over.
func (s *stops) window(i int) window {
	for len(s.ahead) <= i {
		s.ahead = append(s.ahead, s.make())
	}
	return s.ahead[i]
}

// make returns the stop behind the last one.
func (s *stops) make() window {
	s.n++
	length := s.Length
	start := s.last.start + s.Every
	if s.n == 1 { // so that in ten times the distance there are ten
		start = s.Every / 2
	}
	switch s.Kind {
	case "periodic":
	case "poisson":
		start = s.last.end + time.Duration(s.r.ExpFloat64()*float64(s.Every-s.Length))
	case "heap":
		length = s.Length * time.Duration((s.n-1)%heapSteps+1) / heapSteps
	default:
		return window{1 << 62, 1 << 62}
	}
	s.last = window{start, start + length}
	return s.last
}

// held returns when a call that arrives then and is served for so long is answered: it
// waits for the end of a stop that it arrives in, and is held by each that begins before
// its end. Calls must be asked for in the order in which they arrive.
func (s *stops) held(arrives, service time.Duration) (answered time.Duration) {
	for arrives >= s.window(0).end {
		s.ahead = append(s.ahead[:0], s.ahead[1:]...)
	}
	at, i := arrives, 0
	if at >= s.window(0).start {
		at, i = s.window(0).end, 1
	}
	at += service
	for ; s.window(i).start < at; i++ {
		at += s.window(i).end - s.window(i).start
	}
	return at
}
