package probes

import (
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// wallSteps knows between which readings of both clocks the wall clock was set. What was
// in flight over that has stamps of two clocks, as it were.
type wallSteps struct {
	at     datasets.Instant // of the last reading
	offset time.Duration    // of the wall clock from the monotonic one, then
	seen   []wallStep       // the last few
	count  int64
}

type wallStep struct {
	from, to datasets.Instant
	size     time.Duration
}

const (
	// fastestSlew is what a kernel lets a clock gain on the other without a step:
	// 500 ppm by adjtime, and as much by frequency.
	fastestSlew = 1e-3
	// readingApart is how far two clocks read together may seem apart: their readings
	// are not one, though next to each other in time.Now.
	readingApart  = 20 * time.Microsecond
	mostWallSteps = 64
)

// look reads both clocks. What a thread that is put aside between the two readings sees
// is no step: it is gone when it looks again.
func (s *wallSteps) look(now func() (wall int64, at datasets.Instant)) {
	var size time.Duration
	var at datasets.Instant
	for range 3 {
		var wall int64
		wall, at = now()
		offset := time.Duration(wall) - time.Duration(at)
		size = offset - s.offset
		if s.offset == 0 || size.Abs() <= readingApart+time.Duration(fastestSlew*float64(at.Sub(s.at))) {
			s.at, s.offset = at, offset
			return
		}
	}
	s.count++
	if len(s.seen) == mostWallSteps {
		s.seen = append(s.seen[:0], s.seen[1:]...)
	}
	s.seen = append(s.seen, wallStep{s.at, at, size})
	s.at, s.offset = at, s.offset+size
}

// within reports whether the wall clock may have stepped between two instants, of which
// the later one was read.
func (s *wallSteps) within(from, to datasets.Instant) bool {
	return slices.ContainsFunc(s.seen, func(w wallStep) bool { return w.to >= from && w.from <= to })
}
