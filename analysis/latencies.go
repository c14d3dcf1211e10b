package analysis

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// Latencies collects the user latencies of a trace and answers for their quantiles.
// An attempt that timed out counts as slower than the moment we stopped listening,
// which Listen tells (the header's "listen"); where it is absent, the sample's own
// deadline stands for it. Refused, invalid and lost-local attempts are left out.
// The zero value is ready; it holds 8 bytes a sample.
type Latencies struct {
	Listen datasets.Optional[time.Duration]

	answered    ranks
	censored    ranks // what the latencies of timed-out attempts exceed
	first, last datasets.Instant
}

// Add takes one attempt.
func (l *Latencies) Add(s *datasets.Sample) {
	if !s.Outcome.Counts() {
		return
	}
	if l.len() == 0 {
		l.first, l.last = s.Due, s.Due
	}
	l.first, l.last = min(l.first, s.Due), max(l.last, s.Due)
	if d, ok := s.Latency(); ok {
		l.answered.add(d)
		return
	}
	beyond, ok := l.Listen.Value()
	if !ok {
		beyond, _ = s.Deadline.Value()
	}
	l.censored.add(beyond)
}

// Len returns how many attempts were answered and how many timed out.
func (l *Latencies) Len() (answered, timedOut int) { return l.answered.len(), l.censored.len() }

func (l *Latencies) len() int { return l.answered.len() + l.censored.len() }

// Sorted returns the latencies of the answered attempts, and for those that timed out
// what their latency exceeds, both ascending. Neither may be changed.
func (l *Latencies) Sorted() (answered, beyond []time.Duration) {
	for _, r := range []*ranks{&l.answered, &l.censored} {
		slices.Sort(r.values)
		r.placed = r.placed[:0]
	}
	return l.answered.values, l.censored.values
}

// Rate returns the attempts a second over the time they were due in, or 0 if there
// are too few to tell.
func (l *Latencies) Rate() float64 {
	if l.last <= l.first {
		return 0
	}
	return float64(l.len()-1) / l.last.Sub(l.first).Seconds()
}

// Quantile returns the q-quantile in seconds between two order statistics. All three
// numbers are absent below [NeededN] samples. A timed-out attempt may lie anywhere
// above the point where we stopped listening: a number that this leaves open is
// absent, and no distribution is assumed to close it.
func (l *Latencies) Quantile(q, level float64) Interval {
	n := l.len()
	lo, hi, coverage := OrderRanks(n, q, level)
	out := Interval{N: int64(n), Level: level, Method: fmt.Sprintf("order statistics %d and %d of %d, coverage %.4f", lo, hi, n, coverage)}
	if lo < 1 || hi > n {
		out.Method = "order statistics"
		out.Warnings = []string{tooFew(q, level, n, l.Rate())}
		return out
	}
	k := quantileRank(n, q)
	least, known := l.least(k)
	if most, ok := l.most(k); ok && known && most == least {
		out.Value = someSeconds(least)
	}
	if d, ok := l.least(lo); ok {
		out.Lo = someSeconds(d)
	}
	if d, ok := l.most(hi); ok {
		out.Hi = someSeconds(d)
	}
	if w := l.open(q, out); w != "" {
		out.Warnings = []string{w}
	}
	return out
}

// most returns the k-th smallest latency if those timed out were endless.
func (l *Latencies) most(k int) (time.Duration, bool) {
	if k > l.answered.len() {
		return 0, false
	}
	return l.answered.at(k), true
}

// least returns the k-th smallest latency if those timed out had been answered just
// after we stopped listening; false if it is one of them.
func (l *Latencies) least(k int) (time.Duration, bool) {
	a, c := &l.answered, &l.censored
	// Among the k smallest are `from+i` answered ones, the least number of them for
	// which the next answered latency exceeds the last censored one.
	from := max(k-c.len(), 0)
	answered := from + sort.Search(min(k, a.len())-from, func(i int) bool {
		return a.at(from+i+1) > c.at(k-from-i)
	})
	if answered == 0 || answered < k && a.at(answered) <= c.at(k-answered) {
		return 0, false
	}
	return a.at(answered), true
}

// open says which of the numbers the timed-out attempts leave open.
func (l *Latencies) open(q float64, i Interval) string {
	what := ""
	_, value := i.Value.Value()
	_, hi := i.Hi.Value()
	switch {
	case !value:
		what = "not identifiable"
	case !hi:
		what = "no upper limit"
	default:
		return ""
	}
	within := "an unknown time: the trace does not say how long it listened"
	if beyond := l.censored.at(1); beyond > 0 {
		within = unit.Format(beyond.Seconds(), "s") + ": listen longer"
	}
	attempts := "attempts were"
	if l.censored.len() == 1 {
		attempts = "attempts was"
	}
	return fmt.Sprintf("%s: %s: %s of %s not answered within %s",
		QuantileName(q), what, unit.Count(int64(l.censored.len())), counted(int64(l.len()), "attempt was", attempts), within)
}
