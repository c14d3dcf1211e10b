package probes

import "time"

// spin looks for an answer over and over, for a short while after something was sent,
// instead of sleeping: waking up takes 15 µs and more, which would be in the latency of
// every answer. Where answers take longer than it looks it soon gives up, but for one
// attempt in 16.
type spin struct {
	longest time.Duration // after a sending; 0 is never
	last    time.Time     // something was sent
	waiting bool          // nothing has come since
	worth   int           // ‰ of the last sendings were answered in time, about
	tries   int
}

const (
	spinWorth = 250 // ‰
	spinTry   = 16
)

// sent notes that something was sent.
func (s *spin) sent(at time.Time) {
	if s.waiting {
		s.worth -= s.worth / 16
	}
	s.last, s.waiting = at, true
	s.tries++
}

// answered notes that something came.
func (s *spin) answered(at time.Time) {
	if !s.waiting {
		return
	}
	s.waiting = false
	s.worth -= s.worth / 16
	if at.Sub(s.last) < s.longest {
		s.worth += 1000 / 16
	}
}

// begins reports whether it is worth looking now.
func (s *spin) begins(now time.Time) bool {
	return s.waiting && s.lasts(now) && (s.worth >= spinWorth || s.tries%spinTry == 0)
}

// lasts reports whether it is still worth looking.
func (s *spin) lasts(now time.Time) bool { return now.Sub(s.last) < s.longest }
