package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Column names one column, in lower_snake_case, and the base unit of its numbers:
// "s", "ns", "ratio", "count", "ppm", "B", "Hz", or "" for none.
type Column struct{ Name, Unit string }

// Table is rows of cells under columns. A cell is a string, float64, int64, int,
// bool, or nil where there is no value; NaN and infinities count as nil.
type Table struct {
	Name    string
	Caption string
	Columns []Column
	Rows    [][]any
	// Prose makes the text form a paragraph a row, grouped by the column of this name:
	// for cells that are sentences. Rows of one value should stand together.
	Prose string
}

// Document is everything a command found: the answer in words, the tables behind
// it, and what is doubtful about them.
type Document struct {
	Version  string
	Command  string
	Headline []string
	Tables   []Table
	Warnings []string
}

// Write writes d, or only its named table if table is not empty, as "text", "json",
// "csv" or "md". An unknown format or table, and CSV of several tables, is a
// *spec.UsageError; a table whose rows do not fit its columns is another error. In
// both cases nothing is written.
func Write(w io.Writer, format string, d *Document, table string) error {
	writers := map[string]func(*Document) ([]byte, error){
		"text": text, "json": asJSON, "csv": asCSV, "md": markdown,
	}
	write, ok := writers[format]
	if !ok {
		return spec.Unknown("output format", format, []string{"text", "json", "csv", "md"})
	}
	tables, err := Select(d, table)
	if err != nil {
		return err
	}
	part := *d
	part.Tables = tables
	if table != "" {
		part.Headline = nil // it speaks of the whole
	}
	out, err := write(&part)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// Select returns the named table alone, or every table if the name is empty. A name
// that d does not have is a *spec.UsageError.
func Select(d *Document, table string) ([]Table, error) {
	var names []string
	for i := range d.Tables {
		t := &d.Tables[i]
		if err := t.check(); err != nil {
			return nil, err
		}
		if t.Name == table {
			return []Table{*t}, nil
		}
		names = append(names, t.Name)
	}
	if table != "" {
		return nil, spec.Unknown("table", table, names)
	}
	return d.Tables, nil
}

// check says where a table is not well formed, which is its maker's mistake.
func (t *Table) check() error {
	if t.Prose != "" && t.column(t.Prose) < 1 {
		return fmt.Errorf("table %q: no column %q to group paragraphs by", t.Name, t.Prose)
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return fmt.Errorf("table %q: row %d has %d cells for %d columns", t.Name, i+1, len(row), len(t.Columns))
		}
		for j, cell := range row {
			switch cell.(type) {
			case nil, string, bool, int, int64, float64:
			default:
				return fmt.Errorf("table %q: row %d, column %q: a cell cannot be a %T", t.Name, i+1, t.Columns[j].Name, cell)
			}
		}
	}
	return nil
}

func (t *Table) column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// number returns a cell as a float64, and false if it is absent or no number.
func number(cell any) (float64, bool) {
	switch v := cell.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

// absent reports whether there is nothing in a cell.
func absent(cell any) bool {
	f, isFloat := cell.(float64)
	return cell == nil || isFloat && (math.IsNaN(f) || math.IsInf(f, 0))
}
