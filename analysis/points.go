package analysis

import (
	"fmt"
	"slices"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
)

// PointSummary sums up a series trace. The zero value is ready; it holds 16 bytes an
// offset and 8 a frequency or a delay.
type PointSummary struct {
	n, failed                int64
	theta, abs, delay, error ranks
	frequency                []float64
	values                   spread
}

// Points is what another tool's log says of a clock, in seconds. Its offsets are told and
// not stamped, so there is no bound: only how they spread.
type Points struct {
	N           int64                      // points that are not invalid, lost or refused
	Failed      int64                      // the others
	P50         Interval                   // of θ, positive when the local clock is slow
	P99Abs      Interval                   // of |θ|
	Delay       Interval                   // p50
	Error       Interval                   // p50 of what the tool takes for its own error
	Frequency   datasets.Optional[float64] // p50, in ppm, positive when the local clock loses
	Values      int64                      // of phase or frequency data
	Least, Most float64                    // of them
	Warnings    []string
}

// Add takes one point.
func (s *PointSummary) Add(p *datasets.Point) {
	if !p.Outcome.Answered() {
		s.failed++
		return
	}
	s.n++
	if d, ok := p.Offset.Value(); ok {
		s.theta.add(d)
		s.abs.add(d.Abs())
	}
	if d, ok := p.Delay.Value(); ok {
		s.delay.add(d)
	}
	if d, ok := p.Error.Value(); ok {
		s.error.add(d)
	}
	if f, ok := p.Frequency.Value(); ok {
		s.frequency = append(s.frequency, f*1e6)
	}
	if v, ok := p.Value.Value(); ok {
		s.values.add(v)
	}
}

// Summary returns the whole, with order-statistic intervals at level.
func (s *PointSummary) Summary(level float64) Points {
	out := Points{
		N: s.n, Failed: s.failed,
		P50: s.theta.quantile(0.5, level), P99Abs: s.abs.quantile(0.99, level),
		Delay: s.delay.quantile(0.5, level), Error: s.error.quantile(0.5, level),
		Values: s.values.n, Least: s.values.least, Most: s.values.most,
	}
	if n := len(s.frequency); n > 0 {
		slices.Sort(s.frequency)
		out.Frequency = datasets.Some(s.frequency[quantileRank(n, 0.5)-1])
	}
	if s.theta.len() > 0 {
		out.Warnings = append(out.Warnings, out.P50.about("offset")...)
		out.Warnings = append(out.Warnings, out.P99Abs.about("|offset|")...)
		out.Warnings = append(out.Warnings, "offset: told by the tool that wrote the log, without the stamps: no bound of its error can be computed")
	}
	return out
}

// spread is the least and the greatest of some numbers.
type spread struct {
	n           int64
	least, most float64
}

func (s *spread) add(v float64) {
	if s.n == 0 {
		s.least, s.most = v, v
	}
	s.n++
	s.least, s.most = min(s.least, v), max(s.most, v)
}

func pointTable() report.Table {
	t := report.Table{Name: "series", Caption: "What a log tells of a clock: positive when the local clock is slow, or loses", Columns: []report.Column{
		{Name: "target"}, {Name: "points", Unit: "count"}, {Name: "failed", Unit: "count"},
	}}
	t.Columns = append(t.Columns, intervalColumns("offset_p50", "s")...)
	t.Columns = append(t.Columns, intervalColumns("offset_p99_abs", "s")...)
	return withColumns(t, report.Column{Name: "frequency_p50", Unit: "ppm"}, report.Column{Name: "delay_p50", Unit: "s"}, report.Column{Name: "error_p50", Unit: "s"},
		report.Column{Name: "value_min"}, report.Column{Name: "value_max"})
}

func (s *Summary) pointRows() [][]any {
	p := s.Points
	if p == nil {
		return nil
	}
	row := appendInterval(appendInterval([]any{s.path(), p.N, p.Failed}, p.P50), p.P99Abs)
	row = append(row, Cell(p.Frequency), Cell(p.Delay.Value), Cell(p.Error.Value))
	if p.Values > 0 {
		return [][]any{append(row, p.Least, p.Most)}
	}
	return [][]any{append(row, nil, nil)}
}

// agreementRow is what the summary of clocks says of a series.
func (p *Points) agreementRow(target string) []any {
	row := appendInterval(appendInterval([]any{target, p.N}, p.P50), p.P99Abs)
	return append(row, nil, nil, p.Failed, nil, stateTold)
}

// stateTold is the state of a clock of which another tool's log tells: nothing here can
// check it.
const stateTold = "told"

func (p *Points) sentence(source string) string {
	theta, ok := p.P50.Value.Value()
	if !ok {
		return fmt.Sprintf("%s tells no offset", source)
	}
	return offBy(theta, p.P50) + ", as " + source + " tells"
}
