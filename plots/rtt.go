package plots

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// rtt draws round trips over time.
type rtt struct {
	over time.Duration // a call slower than this is slow; 0 chooses from the data
	gap  time.Duration
	log  string
}

func bindRTT(fs *flag.FlagSet) func() (Figure, error) {
	var f rtt
	fs.DurationVar(&f.over, "over", 0, "a call slower than this `duration` is slow; 0s: 4 medians or a tenth of the greatest, rounded up")
	fs.DurationVar(&f.gap, "gap", 100*time.Millisecond, "slow calls are one episode unless all is calm for this `duration` between them")
	fs.StringVar(&f.log, "scale", "auto", "of the round trips: `auto`, linear or log")
	return func() (Figure, error) {
		switch {
		case f.over < 0 || f.gap <= 0:
			return nil, errors.New("over must not be negative and gap must be positive")
		case f.log != "auto" && f.log != "linear" && f.log != "log":
			return nil, fmt.Errorf("scale %q: want auto, linear or log", f.log)
		}
		return f.draw, nil
	}
}

// rttSeen is what one pass over a trace leaves.
type rttSeen struct {
	reduced                        *reducer
	slow                           *ladder
	all                            *histogram
	answered, timedOut, unanswered int64
}

func (f rtt) draw(traces []Trace) (*Chart, error) {
	t, err := only("rtt", traces)
	if err != nil {
		return nil, err
	}
	seen := &rttSeen{reduced: newReducer(0), all: newHistogram(), slow: newLadder(f.over, f.gap)}
	if err := eachSample("rtt", t, seen.add); err != nil {
		return nil, err
	}
	c := &Chart{
		X:       timeAxis(),
		Y:       Axis{Label: "Round trip from due time", Unit: "s"},
		Caption: source(t),
	}
	if seen.answered == 0 {
		c.Title = "No answers: nothing to draw"
		c.Empty = fmt.Sprintf("%s holds %s and none was answered.", t.Name, count(seen.timedOut+seen.unanswered, "attempt"))
		c.Desc = c.Empty
		return c, nil
	}
	f.fill(c, seen)
	return c, nil
}

func (s *rttSeen) add(m *datasets.Sample) {
	d, answered := m.Latency()
	switch {
	case answered:
		s.answered++
		s.all.add(d)
		s.reduced.add(m.Due, d)
		s.slow.add(m.Due, d)
	case m.Outcome == datasets.TimedOut:
		s.timedOut++
		s.reduced.mark(m.Due)
	default:
		s.unanswered++
	}
}

func (f rtt) fill(c *Chart, s *rttSeen) {
	median := s.all.quantile(0.5)
	rung, found := 0, true
	if f.over == 0 {
		rung, found = s.slow.above(max(4*median, s.all.max/10))
	}
	limit, slow := time.Duration(math.MaxInt64), episodes{}
	if found {
		limit, slow = s.slow.limits[rung], s.slow.slow[rung]
	}
	cells := s.reduced.cells()
	calm, beyond := splitCells(cells, seconds(limit))
	c.Layers = append(c.Layers, calm, medianLine(cells), beyond)
	if len(cells) <= fewCells {
		c.Layers = append(c.Layers, medianPoints(cells))
	}
	if s.timedOut > 0 {
		c.Layers = append(c.Layers, rug(cells, count(s.timedOut, "attempt")+" timed out"))
	}
	c.Y.Log = f.log == "log" || f.log == "auto" && s.all.max > 20*median
	if !c.Y.Log {
		c.Y.Include = []float64{0}
	}
	c.Title = rttTitle(s, limit, slow)
	c.Subtitle = count(s.answered, "answered call")
	if s.answered > int64(len(cells)) {
		c.Subtitle += fmt.Sprintf(": from least to greatest in each of %s, the median as a line", count(int64(len(cells)), "column"))
	}
	if slow.calls > 0 {
		c.Subtitle += fmt.Sprintf("; blue where a call took over %s", inWords(limit))
		c.Notes = append(c.Notes, slowNote(cells, slow))
	}
	c.Desc = fmt.Sprintf("%s. Median %s, greatest %s; %s timed out.", c.Subtitle,
		inWords(median), inWords(s.all.max), count(s.timedOut, "attempt"))
}

// rttTitle states what stands out, or that nothing does.
func rttTitle(s *rttSeen, limit time.Duration, slow episodes) string {
	title := fmt.Sprintf("Quiet: no call of %s over %s", unit.Count(s.answered), inWords(limit))
	if limit == math.MaxInt64 {
		title = fmt.Sprintf("Median %s, greatest %s", inWords(s.all.quantile(0.5)), inWords(s.all.max))
	}
	calls := count(slow.calls, "call")
	switch {
	case slow.calls == 0:
	case slow.runs == 1 && slow.calls >= 3:
		title = fmt.Sprintf("One freeze: %s over %s", calls, inWords(limit))
	case slow.runs == 1:
		title = fmt.Sprintf("One slow moment: %s over %s", calls, inWords(limit))
	case slow.calls >= 3*slow.runs:
		title = fmt.Sprintf("%s: %s over %s", count(slow.runs, "freeze"), calls, inWords(limit))
	default:
		title = fmt.Sprintf("%s over %s, in %s", capital(calls), inWords(limit), count(slow.runs, "episode"))
	}
	if s.timedOut > 0 {
		title += fmt.Sprintf("; %s without an answer", unit.Count(s.timedOut))
	}
	return title
}

// slowNote names the longest episode at its peak.
func slowNote(cells []cell, slow episodes) Note {
	begin, end := seconds(slow.longestAt), seconds(slow.longestAt.Add(slow.longest))
	n := Note{X: begin, Role: Accent}
	for _, c := range cells {
		if c.At+c.Width/2 >= begin && c.At-c.Width/2 <= end && c.Max > n.Y {
			n.X, n.Y = c.At, c.Max
		}
	}
	n.Text = inWords(slow.longest)
	if slow.runs > 1 {
		n.Text = "longest: " + n.Text
	}
	return n
}
