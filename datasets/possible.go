package datasets

import (
	"errors"
	"fmt"
)

// farthest is how far from the instant zero a row may speak of, some 146 years: any
// two such instants can be subtracted, and a duration as long can be added to one.
const farthest = 1<<62 - 1

// noElapsed stands, while a row is being parsed, for an elapsed cell without a value.
// No cell can be read as it.
const noElapsed = -1 << 63

func (s *Sample) check() error {
	if s.Elapsed == noElapsed {
		if s.Outcome.Answered() {
			return errors.New(`elapsed "-": an answered attempt has one`)
		}
		s.Elapsed = 0
	}
	if s.Elapsed|s.Stall < 0 || s.Copies|s.Inflight|s.Size < 0 {
		return s.negative()
	}
	deadline, limited := s.Deadline.Value()
	switch {
	case s.Attempt < 1:
		return fmt.Errorf(`attempt "%d": the first is 1`, s.Attempt)
	case limited && deadline <= 0:
		return fmt.Errorf(`deadline "%d": must be positive`, deadline)
	case s.Sent < s.Due:
		return fmt.Errorf(`sent "%d": before it was due, at %d`, s.Sent, s.Due)
	}
	return s.checkReach()
}

// checkReach says which time of the attempt lies too far off.
func (s *Sample) checkReach() error {
	deadline, limited := s.Deadline.Value()
	switch {
	case tooFar(s.Due):
		return far("due", int64(s.Due))
	case tooFar(s.Sent):
		return far("sent", int64(s.Sent))
	case int64(s.Elapsed) > farthest-int64(s.Sent):
		return far("elapsed", int64(s.Elapsed))
	case limited && deadline > farthest:
		return far("deadline", int64(deadline))
	}
	return nil
}

// negative says which cell is.
func (s *Sample) negative() error {
	for _, c := range []struct {
		column string
		n      int64
	}{
		{"elapsed", int64(s.Elapsed)},
		{"stall", int64(s.Stall)},
		{"copies", int64(s.Copies)},
		{"inflight", int64(s.Inflight)},
		{"size", int64(s.Size)},
	} {
		if c.n < 0 {
			return belowZero(c.column, c.n)
		}
	}
	return nil
}

func (p *Pause) check() error {
	switch {
	case p.Length < 0:
		return belowZero("length", int64(p.Length))
	case tooFar(p.At):
		return far("at", int64(p.At))
	case int64(p.Length) > farthest-int64(p.At):
		return far("length", int64(p.Length))
	}
	return nil
}

func (c *ClockReading) check() error {
	switch {
	case c.Width < 0:
		return belowZero("width", int64(c.Width))
	case tooFar(c.At):
		return far("at", int64(c.At))
	}
	return nil
}

func tooFar(t Instant) bool { return t > farthest || t < -farthest }

func far(column string, n int64) error {
	return fmt.Errorf(`%s "%d": more than 146 years from the start of the trace`, column, n)
}

func belowZero(column string, n int64) error {
	return fmt.Errorf(`%s "%d": must not be negative`, column, n)
}
