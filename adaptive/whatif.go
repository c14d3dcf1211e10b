package adaptive

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// WhatIf compares two fixed timeouts on one trace and finds the bursts in which the
// shorter one would have given up on calls that were then answered.
type WhatIf struct {
	short, long time.Duration
	timeline    *timeline
	slow        []Span
}

// Span is a stretch of a trace, such as a freeze that is known to have happened.
type Span struct{ From, To datasets.Instant }

func (s Span) overlaps(o Span) bool { return s.From <= o.To && o.From <= s.To }

// Burst is calls that the shorter timeout would have given up on falsely and that
// were in flight together.
type Burst struct {
	Span
	Calls int64
}

// Comparison is what the two timeouts would have done.
type Comparison struct {
	ShortAfter, LongAfter time.Duration
	Short, Long           Score
	Bursts                []Burst // of the shorter, in order of time
	Held                  int64   // false positives of the shorter in flight during a known freeze
	Freezes               []Span  // the known freezes that held such calls, in order of time
}

// NewWhatIf compares timeouts of short and long on a trace that listened so long for
// each answer, 0 if it does not say.
func NewWhatIf(short, long, listen time.Duration) *WhatIf {
	return &WhatIf{
		short: short, long: long,
		timeline: newTimeline(listen, newPlayer(fixed(short)), newPlayer(fixed(long))),
	}
}

// Add takes one attempt, as [Replay.Add] does.
func (w *WhatIf) Add(s *datasets.Sample) {
	w.timeline.add(s)
	if latency, ok := s.Latency(); ok && latency > w.short {
		w.slow = append(w.slow, Span{s.Due, s.Due.Add(latency)})
	}
}

// Finish returns the comparison. Freezes are what is known to have held calls up, on
// the trace's clock; none is fine. Nothing is added after it.
func (w *WhatIf) Finish(freezes []Span) Comparison {
	w.timeline.end()
	slices.SortFunc(w.slow, inTime)
	c := Comparison{
		ShortAfter: w.short, LongAfter: w.long,
		Short:  w.timeline.players[0].score(),
		Long:   w.timeline.players[1].score(),
		Bursts: bursts(w.slow),
	}
	c.Held, c.Freezes = held(w.slow, freezes)
	return c
}

func inTime(a, b Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

// bursts joins flights, in order of time, that overlap.
func bursts(flights []Span) []Burst {
	var all []Burst
	for _, f := range flights {
		if n := len(all); n > 0 && f.From <= all[n-1].To {
			all[n-1].Calls++
			all[n-1].To = max(all[n-1].To, f.To)
			continue
		}
		all = append(all, Burst{f, 1})
	}
	return all
}

// held returns how many flights overlap a freeze, and the freezes that any does.
func held(flights, freezes []Span) (calls int64, hit []Span) {
	overlapping := func(s Span, all []Span) bool { return slices.ContainsFunc(all, s.overlaps) }
	for _, f := range freezes {
		if overlapping(f, flights) {
			hit = append(hit, f)
		}
	}
	for _, f := range flights {
		if overlapping(f, hit) {
			calls++
		}
	}
	slices.SortFunc(hit, inTime)
	return calls, hit
}

// Sentences returns what the shorter timeout would have done and what the longer one
// would have cost, each with its numbers.
func (c *Comparison) Sentences() []string {
	name := func(d time.Duration) string { return unit.Format(d.Seconds(), "s") }
	short := fmt.Sprintf("a timeout of %s gives up on no call that is answered (%s)", name(c.ShortAfter), shareText(c.Short.Share))
	if c.Short.FalsePositives > 0 {
		calls := "1 call that is"
		if n := c.Short.FalsePositives; n > 1 {
			calls = unit.Count(n) + " calls that are"
		}
		short = fmt.Sprintf("a timeout of %s gives up on %s answered, %s (%s)", name(c.ShortAfter), calls, c.where(), shareText(c.Short.Share))
	}
	gives := "on none"
	if n := c.Long.FalsePositives; n > 0 {
		gives = "on " + unit.Count(n)
	}
	return []string{
		short,
		fmt.Sprintf("%s gives up %s (%s), and %s instead of %s, %s", name(c.LongAfter), gives, shareText(c.Long.Share),
			noticedText(c.Long), secondsText(c.Short.DetectionP50), secondsText(c.Short.DetectionP99)),
	}
}

// where places the false positives of the shorter timeout.
func (c *Comparison) where() string {
	switch c.Held {
	case 0:
		return "in " + count(int64(len(c.Bursts)), "burst")
	case c.Short.FalsePositives:
		if c.Held == 1 {
			return "within " + c.frozen()
		}
		return "all within " + c.frozen()
	}
	return fmt.Sprintf("%s of them within %s", unit.Count(c.Held), c.frozen())
}

// frozen names the freezes.
func (c *Comparison) frozen() string {
	if len(c.Freezes) > 1 {
		return count(int64(len(c.Freezes)), "freeze")
	}
	f := c.Freezes[0]
	return fmt.Sprintf("the freeze of %s at %s", unit.Format(f.To.Sub(f.From).Seconds(), "s"), unit.Format(time.Duration(f.From).Seconds(), "s"))
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.Count(n) + " " + noun + "s"
}
