package analysis

import (
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// Counts is how many attempts had each outcome. The zero value is ready.
type Counts struct {
	Samples, Replied, Late, TimedOut, Refused, Invalid, LostLocal int64
	Duplicates                                                    int64 // answers beyond the first
}

// Add takes one attempt.
func (c *Counts) Add(s *datasets.Sample) {
	c.Samples++
	c.Duplicates += int64(max(s.Copies-1, 0))
	switch s.Outcome {
	case datasets.Replied:
		c.Replied++
	case datasets.Late:
		c.Late++
	case datasets.TimedOut:
		c.TimedOut++
	case datasets.Refused:
		c.Refused++
	case datasets.Invalid:
		c.Invalid++
	case datasets.LostLocal:
		c.LostLocal++
	}
}

// Answered returns how many attempts have a latency.
func (c *Counts) Answered() int64 { return c.Replied + c.Late }

// Counted returns how many attempts stand in the denominator of a false-positive
// rate: all but refused, invalid and lost-local ones.
func (c *Counts) Counted() int64 { return c.Answered() + c.TimedOut }

// counted says how many there are of what, in the words for one or for many.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return unit.Count(n) + " " + many
}
