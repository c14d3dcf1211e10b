package page

import (
	"bytes"
	"strings"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
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
func shown(t *report.Table) (table, error) {
	bare := *t
	bare.Caption = ""
	var b bytes.Buffer
	if err := report.Write(&b, "md", &report.Document{Tables: []report.Table{bare}}, ""); err != nil {
		return table{}, err
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	heads, rules := cells(lines[0]), cells(lines[1])
	var rows [][]string
	for _, l := range lines[2:] {
		rows = append(rows, cells(l))
	}
	out := table{Caption: t.Caption}
	if out.Caption == "" {
		out.Caption = strings.ReplaceAll(t.Name, "_", " ")
	}
	out.Rows = make([][]cell, len(rows))
	for i, name := range heads {
		if empty(rows, i) {
			continue
		}
		number := strings.HasSuffix(rules[i], ":")
		out.Heads = append(out.Heads, head{name, number})
		for r := range rows {
			out.Rows[r] = append(out.Rows[r], cell{rows[r][i], number})
		}
	}
	if len(out.Rows) == 1 && len(out.Heads) > most {
		out.turn()
	}
	return out, nil
}

// empty reports whether a column has rows and nothing in any.
func empty(rows [][]string, column int) bool {
	for _, r := range rows {
		if r[column] != unit.Absent && r[column] != "" {
			return false
		}
	}
	return len(rows) > 0
}

// turn makes each column a row.
func (t *table) turn() {
	var rows [][]cell
	for i, h := range t.Heads {
		rows = append(rows, []cell{{h.Text, false}, {t.Rows[0][i].Text, false}})
	}
	t.Heads, t.Rows, t.Turned = nil, rows, true
}

// cells takes a row of a Markdown table apart and undoes its escapes.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |")
	var out []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i++
			cell.WriteByte(line[i])
		case strings.HasPrefix(line[i:], " | "):
			out = append(out, cell.String())
			cell.Reset()
			i += 2
		case strings.HasPrefix(line[i:], "&lt;"):
			cell.WriteByte('<')
			i += 3
		case strings.HasPrefix(line[i:], "&amp;"):
			cell.WriteByte('&')
			i += 4
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(out, cell.String())
}
