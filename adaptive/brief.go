package adaptive

import (
	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/report"
)

// Brief returns what a person compares estimators by: the columns of Table that
// decide, under the names that were asked for. The chosen one is marked.
func (t *Tuning) Brief() report.Table {
	table := report.Table{
		Name:    "estimators",
		Caption: "Replayed as recorded (L0); false positives with limits that take calls as independent",
		Columns: []report.Column{
			{Name: "estimator"},
			{Name: "false_positives", Unit: "ratio"},
			{Name: "false_positives_lo", Unit: "ratio"},
			{Name: "false_positives_hi", Unit: "ratio"},
			{Name: "noticed_p50", Unit: "s"},
			{Name: "noticed_p99", Unit: "s"},
			{Name: "retries_added", Unit: "ratio"},
			{Name: "choice"},
		},
	}
	for i := range t.Candidates {
		c := &t.Candidates[i]
		share, lo, hi := c.Share.Cells()
		mark := ""
		if c.Pareto {
			mark = "pareto"
		}
		if c.Chosen {
			mark = "chosen"
		}
		table.Rows = append(table.Rows, []any{
			c.Text, share, lo, hi, analysis.Cell(c.DetectionP50), analysis.Cell(c.DetectionP99), analysis.Cell(c.RetriesAdded()), mark,
		})
	}
	return table
}
