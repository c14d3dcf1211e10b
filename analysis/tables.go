package analysis

import (
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
)

// Tables returns what is known of the traces as tables: numbers first, then the
// headers they come from. Tables without a row are left out.
func Tables(summaries ...*Summary) []report.Table {
	return gather(summaries, []tableOf{
		{summaryTable(), (*Summary).tripRows},
		{pathTable(), (*Summary).pathRows},
		{offsetTable(), (*Summary).offsetRows},
		{budgetTable(), (*Summary).budgetRows},
		{pointTable(), (*Summary).pointRows},
		{binTable(), (*Summary).binRows},
		{entryTable(), (*Summary).entryRows},
		{pauseTable(), (*Summary).pauseRows},
		{causeTable(), (*Summary).causeRows},
		{clockTable(), (*Summary).clockRows},
		{claimTable(), (*Summary).claimRows},
		{stepTable(), (*Summary).stepRows},
		{headerTable(), (*Summary).headerRows},
	})
}

// tableOf is a table and what each summary has to put in it.
type tableOf struct {
	table report.Table
	rows  func(*Summary) [][]any
}

func gather(summaries []*Summary, all []tableOf) []report.Table {
	var tables []report.Table
	for _, of := range all {
		for _, s := range summaries {
			of.table.Rows = append(of.table.Rows, of.rows(s)...)
		}
		if len(of.table.Rows) > 0 {
			tables = append(tables, of.table)
		}
	}
	return tables
}

// target returns what was measured, or the trace's name if it does not say.
func (s *Summary) target() string {
	if target := s.Header.Text(datasets.KeyTarget); target != "" {
		return target
	}
	return s.Name
}

func summaryTable() report.Table {
	t := report.Table{Name: "summary", Columns: []report.Column{{Name: "target"}}}
	for _, name := range []string{"samples", "replied", "late", "timed_out", "refused", "invalid", "lost_local"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Unit: "count"})
	}
	for _, name := range []string{"p50", "p90", "p99", "p999"} {
		t.Columns = append(t.Columns, intervalColumns(name, "s")...)
	}
	return t
}

func (s *Summary) tripRows() [][]any {
	if s.Trips == nil {
		return nil
	}
	c := s.Trips.Counts
	row := []any{s.path(), c.Samples, c.Replied, c.Late, c.TimedOut, c.Refused, c.Invalid, c.LostLocal}
	for _, q := range s.Trips.Quantiles {
		row = appendInterval(row, q)
	}
	return [][]any{row}
}

func pathTable() report.Table {
	t := report.Table{Name: "path", Caption: "Where the time went: ours is before leaving and after coming back; bound is the error that the clocks' offset leaves", Columns: []report.Column{
		{Name: "target"}, {Name: "part"},
	}}
	t.Columns = append(append(t.Columns, intervalColumns("p50", "s")...), intervalColumns("p99", "s")...)
	t.Columns = append(t.Columns, report.Column{Name: "bound", Unit: "s"})
	return t
}

func offsetTable() report.Table {
	t := report.Table{Name: "offsets", Caption: "θ = server − client: positive when the local clock is slow"}
	t.Columns = append([]report.Column{{Name: "target"}, {Name: "samples", Unit: "count"}}, intervalColumns("offset_p50", "s")...)
	t.Columns = append(t.Columns, intervalColumns("offset_p99_abs", "s")...)
	t.Columns = append(t.Columns, report.Column{Name: "offset_best", Unit: "s"}, report.Column{Name: "bound", Unit: "s"})
	return t
}

func (s *Summary) offsetRows() [][]any {
	o := s.Offsets
	if o == nil {
		return nil
	}
	row := appendInterval(appendInterval([]any{s.path(), o.N}, o.P50), o.P99Abs)
	if best, ok := o.Best.Value(); ok {
		return [][]any{append(row, best.Offset, best.Seconds)}
	}
	return [][]any{append(row, nil, nil)}
}

func budgetTable() report.Table {
	return report.Table{Name: "budget", Caption: "What bounds the error of the best exchange", Columns: []report.Column{
		{Name: "target"}, {Name: "term"}, {Name: "kind"}, {Name: "seconds", Unit: "s"}, {Name: "source"},
	}}
}

func (s *Summary) budgetRows() [][]any {
	if s.Offsets == nil {
		return nil
	}
	best, _ := s.Offsets.Best.Value()
	var rows [][]any
	for _, term := range best.Terms {
		rows = append(rows, []any{s.path(), term.Name, string(term.Kind), term.Seconds, term.Source})
	}
	return rows
}

func pauseTable() report.Table {
	t := report.Table{Name: "pauses", Columns: []report.Column{
		{Name: "trace"}, {Name: "pauses", Unit: "count"}, {Name: "longest", Unit: "s"}, {Name: "share", Unit: "ratio"}, {Name: "observed", Unit: "s"},
	}}
	t.Columns = append(t.Columns, intervalColumns("per_hour", "count")...)
	return t
}

func (s *Summary) pauseRows() [][]any {
	p := s.Pauses
	if p == nil {
		return nil
	}
	var observed any
	if d, ok := s.Header.Duration(datasets.KeyObserved); ok {
		observed = d.Seconds()
	}
	return [][]any{appendInterval([]any{s.Name, p.Count, Cell(p.Longest), Cell(p.Share), observed}, p.PerHour)}
}

func clockTable() report.Table {
	return report.Table{Name: "clocks", Caption: "Rates and steps are positive when the clock loses", Columns: []report.Column{
		{Name: "trace"},
		{Name: "readings", Unit: "count"},
		{Name: "steps", Unit: "count"},
		{Name: "realtime_vs_monotonic", Unit: "ppm"},
		{Name: "realtime_vs_monotonic_bound", Unit: "ppm"},
		{Name: "monotonic_vs_raw", Unit: "ppm"},
		{Name: "monotonic_vs_raw_bound", Unit: "ppm"},
		{Name: "suspended", Unit: "s"},
		{Name: "read_width_p50", Unit: "s"},
	}}
}

func (s *Summary) clockRows() [][]any {
	c := s.Clocks
	if c == nil {
		return nil
	}
	return [][]any{{
		s.Name, c.N, int64(len(c.Steps)), Cell(c.RealtimeVsMonotonic.PPM), Cell(c.RealtimeVsMonotonic.Bound),
		Cell(c.MonotonicVsRaw.PPM), Cell(c.MonotonicVsRaw.Bound), Cell(c.Suspended), Cell(c.Width.Value),
	}}
}

func stepTable() report.Table {
	return report.Table{Name: "steps", Columns: []report.Column{
		{Name: "trace"}, {Name: "at", Unit: "s"}, {Name: "size", Unit: "s"}, {Name: "bound", Unit: "s"},
	}}
}

func (s *Summary) stepRows() [][]any {
	if s.Clocks == nil {
		return nil
	}
	var rows [][]any
	for _, step := range s.Clocks.Steps {
		rows = append(rows, []any{s.Name, step.At, step.Size, step.Bound})
	}
	return rows
}

func claimTable() report.Table {
	return report.Table{Name: "claims", Caption: "What time daemons say of this host's clock; offsets are positive when they take it to be slow", Columns: []report.Column{
		{Name: "trace"},
		{Name: "source"},
		{Name: "samples", Unit: "count"},
		{Name: "status"},
		{Name: "offset_p50", Unit: "s"},
		{Name: "bound_p50", Unit: "s"},
		{Name: "bound_max", Unit: "s"},
		{Name: "age_max", Unit: "s"},
		{Name: "doubted", Unit: "count"},
	}}
}

func (s *Summary) claimRows() [][]any {
	if s.Claims == nil {
		return nil
	}
	var rows [][]any
	for _, c := range s.Claims.Sources {
		rows = append(rows, []any{
			s.Name, c.Source, c.N, c.Status, Cell(c.Offset), Cell(c.Bound), Cell(c.BoundMax), Cell(c.AgeMax), c.Doubted,
		})
	}
	return rows
}

func headerTable() report.Table {
	return report.Table{Name: "header", Columns: []report.Column{{Name: "trace"}, {Name: "key"}, {Name: "value"}}}
}

func (s *Summary) headerRows() [][]any {
	var rows [][]any
	for _, f := range s.Header.Fields() {
		rows = append(rows, []any{s.Name, f.Key, f.Value})
	}
	return rows
}

func intervalColumns(name, unit string) []report.Column {
	return []report.Column{{Name: name, Unit: unit}, {Name: name + "_lo", Unit: unit}, {Name: name + "_hi", Unit: unit}}
}

func appendInterval(row []any, i Interval) []any {
	v, lo, hi := i.Cells()
	return append(row, v, lo, hi)
}
