package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// AgreementTables returns what the traces say of how well clocks agree: each server's
// offset with its bound and what that is made of, and what was claimed or read of this
// host's own clocks. Tables without a row are left out, but for the first.
func AgreementTables(summaries ...*Summary) []report.Table {
	return gather(summaries, []tableOf{
		{agreementTable(), (*Summary).agreementRows},
		{rateTable(), (*Summary).rateRows},
		{budgetTable(), (*Summary).budgetRows},
		{claimTable(), (*Summary).claimRows},
		{clockTable(), (*Summary).clockRows},
		{stepTable(), (*Summary).stepRows},
	})
}

// AgreementHeadline says it in a line for each server.
func AgreementHeadline(summaries ...*Summary) []string {
	var lines []string
	for _, s := range summaries {
		if s.Offsets != nil {
			lines = append(lines, s.path()+": "+s.Offsets.sentence())
		}
		if s.Points != nil {
			lines = append(lines, s.path()+": "+s.Points.sentence(cmp.Or(s.Header.Text(datasets.KeySource), s.Name)))
		}
	}
	return lines
}

// sentence is the answer: how far off, how sure, whether to be believed.
func (o *Offsets) sentence() string {
	theta, ok := o.P50.Value.Value()
	best, bounded := o.Best.Value()
	if !ok || !bounded {
		return o.State + ": " + o.Why
	}
	text := offBy(theta, o.P50) + fmt.Sprintf(", and by the best exchange off by %s at most", unit.Format(math.Abs(best.Offset)+best.Seconds, "s"))
	if o.State != stateGood {
		text += "; " + o.State + ": " + o.Why
	}
	return text
}

// offBy says how far a clock is off by the median of θ.
func offBy(theta float64, p50 Interval) string {
	sign := "slow"
	if theta < 0 {
		sign, theta = "fast", -theta
	}
	text := fmt.Sprintf("this clock is %s %s (p50 of %s", unit.Format(theta, "s"), sign, unit.Count(p50.N))
	lo, ok1 := p50.Lo.Value()
	if hi, ok2 := p50.Hi.Value(); ok1 && ok2 {
		text += fmt.Sprintf(", θ in [%s, %s]", unit.Format(lo, "s"), unit.Format(hi, "s"))
	}
	return text + ")"
}

// AgreementWarnings returns what is doubtful about the clocks, each warning once: with
// the traces it is about, if it is not about all.
func AgreementWarnings(summaries ...*Summary) []string {
	var order []string
	about := map[string][]string{}
	for _, s := range summaries {
		for _, w := range s.clockWarnings() {
			if about[w] == nil {
				order = append(order, w)
			}
			about[w] = append(about[w], s.path())
		}
	}
	for i, w := range order {
		if len(about[w]) < len(summaries) {
			order[i] = strings.Join(about[w], ", ") + ": " + w
		}
	}
	return order
}

func (s *Summary) clockWarnings() []string {
	w := slices.Clone(s.file)
	if s.Offsets != nil {
		w = append(w, s.Offsets.Warnings...)
	}
	if s.Points != nil {
		w = append(w, s.Points.Warnings...)
	}
	if s.Clocks != nil {
		w = append(w, s.Clocks.Warnings...)
	}
	if s.Claims != nil {
		w = append(w, s.Claims.Warnings...)
	}
	return w
}

func agreementTable() report.Table {
	t := report.Table{Name: "summary", Caption: "θ = server − client: positive when the local clock is slow; stamps: who took T1, T2, T3, T4"}
	t.Columns = append([]report.Column{{Name: "target"}, {Name: "samples", Unit: "count"}}, intervalColumns("offset_p50", "s")...)
	t.Columns = append(t.Columns, intervalColumns("offset_p99_abs", "s")...)
	return withColumns(t, report.Column{Name: "offset_best", Unit: "s"}, report.Column{Name: "bound", Unit: "s"},
		report.Column{Name: "refused", Unit: "count"}, report.Column{Name: "stamps"}, report.Column{Name: "state"})
}

func withColumns(t report.Table, columns ...report.Column) report.Table {
	t.Columns = append(t.Columns, columns...)
	return t
}

func (s *Summary) agreementRows() [][]any {
	if s.Points != nil {
		return [][]any{s.Points.agreementRow(s.path())}
	}
	o := s.Offsets
	if o == nil {
		return nil
	}
	row := appendInterval(appendInterval([]any{s.path(), o.N}, o.P50), o.P99Abs)
	if best, ok := o.Best.Value(); ok {
		row = append(row, best.Offset, best.Seconds)
	} else {
		row = append(row, nil, nil)
	}
	var stamps any
	if o.Stamps != "" {
		stamps = o.Stamps
	}
	return [][]any{append(row, o.Invalid+o.Negative, stamps, o.State)}
}

func rateTable() report.Table {
	t := report.Table{Name: "rate", Caption: "How fast θ grows: positive when the local clock loses; of endpoints the limits are hard", Columns: []report.Column{
		{Name: "target"}, {Name: "method"},
	}}
	return withColumns(withColumns(t, intervalColumns("ppm", "ppm")...), report.Column{Name: "n", Unit: "count"})
}

func (s *Summary) rateRows() [][]any {
	var rows [][]any
	for _, slope := range s.Slopes {
		rows = append(rows, append(appendInterval([]any{s.path(), slope.Method}, slope.Interval), slope.N))
	}
	return rows
}

// path is the target, and which of several flows to it.
func (s *Summary) path() string {
	if flow := s.Header.Text(datasets.KeyFlow); flow != "" {
		return s.target() + " flow " + flow
	}
	return s.target()
}
