package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// PathSummary splits round trips whose rows have stamps of both ends, in the columns t1
// (left us), t2 (arrived there), t3 (left there) or server_ns and server_queued_ns, and
// t4 (came back), in nanoseconds. How long the way took in one direction takes the offset
// of two clocks, which is known to a bound: that of the round trip that bounds it best,
// θ ± δ/2, and 2·MaxDriftPPM more a second before or since. It holds 48 bytes a sample.
type PathSummary struct {
	MaxDriftPPM float64 // of either clock; 0 is DefaultMaxDriftPPM

	columns             pathColumns
	at                  datasets.Instant // of the sample before
	theta, bound        float64          // s; of the clocks, at that instant
	known               bool
	steps               int64
	largest             float64 // step, s
	negative, beyond    int64   // one-way delays below 0, and of these below 0 by more than the bound
	worst               time.Duration
	ours, out, there    ranks
	unread, back, doubt ranks // doubt is the bound
}

// pathColumns are the places of the stamps among the cells of a row, −1 for none.
type pathColumns struct{ t1, t2, t3, t4, server, queued int }

// NewPathSummary returns a summary of a trace with this header, or nil if its rows have no
// such stamps.
func NewPathSummary(h *datasets.Header) *PathSummary {
	at := func(name string) int { return slices.Index(h.Extra, name) }
	c := pathColumns{at("t1"), at("t2"), at("t3"), at("t4"), at("server_ns"), at("server_queued_ns")}
	if c.t1 < 0 || c.t2 < 0 || c.t4 < 0 || c.t3 < 0 && c.server < 0 {
		return nil
	}
	p := &PathSummary{columns: c}
	if ppm, err := unit.Parse(h.Text(datasets.KeyMaxDrift), "ppm"); err == nil && ppm > 0 {
		p.MaxDriftPPM = ppm
	}
	return p
}

// trip is one round trip: t2 − t1, t4 − t3, and between t2 and t3 the part in which nobody
// there had read it.
type trip struct{ out, back, there, unread time.Duration }

// of returns the stamps of a row, and false if it lacks one.
func (c *pathColumns) of(extra string) (trip, bool) {
	var cells [16]string
	n := 0
	for cell := range strings.SplitSeq(extra, "\t") {
		if n < len(cells) {
			cells[n] = cell
			n++
		}
	}
	number := func(column int) (int64, bool) {
		if column < 0 || column >= n {
			return 0, false
		}
		v, err := strconv.ParseInt(cells[column], 10, 64)
		return v, err == nil
	}
	t1, ok1 := number(c.t1)
	t2, ok2 := number(c.t2)
	t4, ok4 := number(c.t4)
	if !ok1 || !ok2 || !ok4 {
		return trip{}, false
	}
	queued, _ := number(c.queued) // the arrival is unknown where it is: it is read then
	t := trip{unread: time.Duration(queued)}
	t3, ok := number(c.t3)
	if !ok {
		var server int64
		server, ok = number(c.server)
		t3 = t2 + queued + server
	}
	t.out, t.back, t.there = time.Duration(t2-t1), time.Duration(t4-t3), time.Duration(t3-t2)
	return t, ok
}

// Add takes one attempt. Only an answered one has a way.
func (p *PathSummary) Add(s *datasets.Sample) {
	latency, answered := s.Latency()
	t, ok := p.columns.of(s.Extra)
	if !answered || !ok {
		return
	}
	p.clock(s.Due, &t)
	theta := time.Duration(p.theta * 1e9)
	out, back := t.out-theta, t.back+theta
	p.out.add(out)
	p.back.add(back)
	p.there.add(t.there)
	p.unread.add(t.unread)
	p.ours.add(latency - (t.out + t.there + t.back))
	p.doubt.add(time.Duration(p.bound * 1e9))
	for _, d := range []time.Duration{out, back} {
		if d >= 0 {
			continue
		}
		p.negative++
		p.worst = min(p.worst, d)
		if -d.Seconds() > p.bound+1e-9 {
			p.beyond++
		}
	}
}

// clock takes what a round trip says of the offset of the clocks: the server's stamps
// minus ours, if both ways were equally long, to half of both.
func (p *PathSummary) clock(at datasets.Instant, t *trip) {
	theta, bound := (t.out-t.back).Seconds()/2, max(0, (t.out+t.back).Seconds()/2)
	ppm := p.MaxDriftPPM
	if ppm == 0 {
		ppm = DefaultMaxDriftPPM
	}
	grown := p.bound + 2*ppm*1e-6*max(0, at.Sub(p.at).Seconds())
	apart := theta - p.theta
	switch {
	case !p.known:
	case apart > bound+grown || -apart > bound+grown: // no offset is in both: one was set
		p.steps++
		if largest := max(apart, -apart); largest > p.largest {
			p.largest = largest
		}
	case bound >= grown:
		theta, bound = p.theta, grown
	}
	p.at, p.theta, p.bound, p.known = at, theta, bound, true
}

// Path is where the time of round trips went, in seconds.
type Path struct {
	Parts    []Part
	Negative int64 // one-way delays below 0
	Warnings []string
}

// Part is one stretch of the way. Bound is a hard limit of its error that holds for 99 of
// 100 samples; absent where no offset of clocks is in it.
type Part struct {
	Name     string
	P50, P99 Interval
	Bound    datasets.Optional[float64]
}

// Summary returns the whole, with order-statistic intervals at level; nil of no stamps.
func (p *PathSummary) Summary(level float64) *Path {
	n := p.out.len()
	if n == 0 {
		return nil
	}
	var none datasets.Optional[float64]
	bound := datasets.Some(p.doubt.at(quantileRank(n, 0.99)).Seconds())
	path := &Path{Negative: p.negative}
	for _, part := range []struct {
		name  string
		r     *ranks
		bound datasets.Optional[float64]
	}{{"ours", &p.ours, none}, {"out", &p.out, bound}, {"there", &p.there, none}, {"unread there", &p.unread, none}, {"back", &p.back, bound}} {
		path.Parts = append(path.Parts, Part{part.name, part.r.quantile(0.5, level), part.r.quantile(0.99, level), part.bound})
	}
	if p.negative > 0 {
		why := "all within the bound of the clocks' offset: an offset that is off by no more than that makes them so"
		if p.beyond > 0 {
			why = fmt.Sprintf("%s of them by more than the bound of the clocks' offset: a clock was set or runs faster than max-drift, or a stamp lies", unit.Count(p.beyond))
		}
		path.Warnings = append(path.Warnings, fmt.Sprintf("path: %s of %s one-way delays are negative, the worst %s; %s",
			unit.Count(p.negative), unit.Count(int64(2*n)), unit.Format(p.worst.Seconds(), "s"), why))
	}
	if p.steps > 0 {
		path.Warnings = append(path.Warnings, fmt.Sprintf("path: the clocks moved apart %s times, by up to %s, faster than they drift: one of them was set", unit.Count(p.steps), unit.Format(p.largest, "s")))
	}
	return path
}

// pathRows are of the table path.
func (s *Summary) pathRows() [][]any {
	if s.Path == nil {
		return nil
	}
	var rows [][]any
	for _, part := range s.Path.Parts {
		row := appendInterval(appendInterval([]any{s.path(), part.Name}, part.P50), part.P99)
		rows = append(rows, append(row, Cell(part.Bound)))
	}
	return rows
}
