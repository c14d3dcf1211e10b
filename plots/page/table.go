package page

import (
	"strings"

	"github.com/tickmark/tickmark/analysis/report"
)

// table is a table as it is shown: its cells as text, the first one of a row its
// heading.
type table struct {
	ID, Caption string
	Heads       []head
	Rows        [][]cell
	Turned      bool // one row of many columns, shown as a row for each
}

type head struct {
	Text   string
	Number bool
}

type cell struct {
	Text   string
	Number bool
}

// most is how many columns a table of one row may have before it is turned.
const most = 6

// shown returns a table with its numbers as the text of a command has them: one
// prefix a column, x_lo and x_hi beside x. Columns with nothing in them are left out.
func shown(t *report.Table) table {
	out := table{Caption: t.Caption, Rows: make([][]cell, len(t.Rows))}
	if out.Caption == "" {
		out.Caption = strings.ReplaceAll(t.Name, "_", " ")
	}
	for _, f := range t.Fields() {
		if f.Empty && len(t.Rows) > 0 {
			continue
		}
		title := f.Title
		if f.Unit != "" {
			title += " (" + f.Unit + ")"
		}
		out.Heads = append(out.Heads, head{title, f.Number})
		for r, text := range f.Cells {
			out.Rows[r] = append(out.Rows[r], cell{text, f.Number})
		}
	}
	if len(out.Rows) == 1 && len(out.Heads) > most {
		out.turn()
	}
	return out
}

// turn makes each column a row.
func (t *table) turn() {
	var rows [][]cell
	for i, h := range t.Heads {
		rows = append(rows, []cell{{h.Text, false}, {t.Rows[0][i].Text, false}})
	}
	t.Heads, t.Rows, t.Turned = nil, rows, true
}
