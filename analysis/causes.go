package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
)

// Cause is the pauses that are put down to one cause, in seconds.
type Cause struct {
	Name     string // empty: unknown
	Count    int64
	Longest  float64
	Share    datasets.Optional[float64] // of the time observed
	P50, P99 Interval                   // of their lengths
}

// mostCauses are told apart; what comes behind them is otherCauses.
const (
	mostCauses  = 64
	otherCauses = "other"
)

type causeSummary struct {
	longest, total time.Duration
	lengths        Latencies
}

func (p *PauseSummary) addCause(row *datasets.Pause) {
	name := row.Cause
	c := p.causes[name]
	if c == nil && len(p.causes) >= mostCauses {
		name = otherCauses
		c = p.causes[name]
	}
	if c == nil {
		c = &causeSummary{}
		if p.causes == nil {
			p.causes = map[string]*causeSummary{}
		}
		p.causes[name] = c
	}
	c.longest = max(c.longest, row.Length)
	c.total += row.Length
	c.lengths.Add(&datasets.Sample{Due: row.At, Sent: row.At, Elapsed: row.Length, Outcome: datasets.Replied})
}

// summaries returns nothing if no cause is known.
func (p *PauseSummary) summaries(observed time.Duration, level float64) []Cause {
	if _, unknown := p.causes[""]; len(p.causes) == 0 || unknown && len(p.causes) == 1 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(p.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.causes[b].total, p.causes[a].total), cmp.Compare(a, b))
	})
	causes := make([]Cause, 0, len(names))
	for _, name := range names {
		s := p.causes[name]
		c := Cause{
			Name: name, Count: int64(s.lengths.len()), Longest: s.longest.Seconds(),
			P50: s.lengths.Quantile(0.5, level), P99: s.lengths.Quantile(0.99, level),
		}
		if observed > 0 {
			c.Share = datasets.Some(s.total.Seconds() / observed.Seconds())
		}
		causes = append(causes, c)
	}
	return causes
}

// tooFewOfACause says once what all causes with too few pauses lack.
func tooFewOfACause(causes []Cause, level float64) []string {
	var warnings []string
	for _, q := range []float64{0.5, 0.99} {
		need := int64(NeededN(q, level))
		few := 0
		for _, c := range causes {
			if c.Count < need {
				few++
			}
		}
		if few > 0 {
			warnings = append(warnings, fmt.Sprintf("causes: the p%g of a cause needs at least %d pauses for a %g%% interval, which %d of %d causes have not", 100*q, need, 100*level, few, len(causes)))
		}
	}
	return warnings
}

func causeTable() report.Table {
	t := report.Table{Name: "causes", Caption: "What pauses are put down to; of timers, which woke late", Columns: []report.Column{
		{Name: "trace"}, {Name: "cause"}, {Name: "pauses", Unit: "count"}, {Name: "longest", Unit: "s"}, {Name: "share", Unit: "ratio"},
	}}
	t.Columns = append(t.Columns, intervalColumns("p50", "s")...)
	t.Columns = append(t.Columns, intervalColumns("p99", "s")...)
	return t
}

func (s *Summary) causeRows() [][]any {
	if s.Pauses == nil {
		return nil
	}
	var rows [][]any
	for _, c := range s.Pauses.Causes {
		var name any
		if c.Name != "" {
			name = c.Name
		}
		rows = append(rows, appendInterval(appendInterval([]any{s.Name, name, c.Count, c.Longest, Cell(c.Share)}, c.P50), c.P99))
	}
	return rows
}
