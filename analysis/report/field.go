package report

import "strings"

// field is a column as people see it, or three of the table's shown as one.
type field struct {
	name  string
	unit  string // with its prefix; "" for words and counts
	cells []string
	right bool // holds numbers, whose cells are all equally wide
	tail  int  // width of the intervals that follow them
	empty bool // has nothing in any row
}

// Field is a column as people see it, for a page that lays tables out by itself.
type Field struct {
	Title  string
	Unit   string // with its prefix; "" for words and counts
	Cells  []string
	Number bool // better set to the right
	Empty  bool // has nothing in any row
}

// Fields returns what there is to see of a table, in its order, as the text form
// shows it: one prefix a column, x_lo and x_hi beside x.
func (t *Table) Fields() []Field {
	var all []Field
	for _, f := range fields(t) {
		shown := Field{Title: f.title(), Unit: f.unit, Number: f.right, Empty: f.empty}
		for _, c := range f.cells {
			shown.Cells = append(shown.Cells, printable(strings.Join(strings.Fields(c), " ")))
		}
		all = append(all, shown)
	}
	return all
}

// source says which columns of a table a field shows; -1 is none.
type source struct{ value, low, high int }

// fields returns what there is to see of a table, in its order. The columns x, x_lo
// and x_hi become one field x; so do the last two without the first, and lo and hi.
func fields(t *Table) []field {
	var all []field
	for i, c := range t.Columns {
		name, from, ok := t.source(i)
		switch {
		case !ok:
		case t.numeric(i):
			all = append(all, t.numbers(name, c.Unit, from))
		default:
			all = append(all, t.words(i))
		}
	}
	return all
}

// source returns the name and the columns of the field that begins at column i, and
// false if column i is shown by another's field.
func (t *Table) source(i int) (string, source, bool) {
	name := t.Columns[i].Name
	stem := strings.TrimSuffix(strings.TrimSuffix(name, "_lo"), "_hi")
	value, low, high := t.column(stem), t.column(stem+"_lo"), t.column(stem+"_hi")
	if name == "lo" || name == "hi" {
		stem, value, low, high = "interval", -1, t.column("lo"), t.column("hi")
	}
	if low < 0 || high < 0 || !t.bounds(value, low, high) {
		return name, source{i, -1, -1}, true
	}
	begins := i == value || value < 0 && i == low
	return stem, source{value, low, high}, begins
}

// bounds reports whether nothing but numbers is in the given columns.
func (t *Table) bounds(columns ...int) bool {
	for _, j := range columns {
		for _, row := range t.Rows {
			if j < 0 || absent(row[j]) {
				continue
			}
			if _, ok := number(row[j]); !ok {
				return false
			}
		}
	}
	return true
}

// numeric reports whether column i has a number in it, or may have had: nothing but
// absent cells under a unit.
func (t *Table) numeric(i int) bool {
	present := false
	for _, row := range t.Rows {
		if _, ok := number(row[i]); ok {
			return true
		}
		present = present || !absent(row[i])
	}
	return !present && t.Columns[i].Unit != ""
}

func (t *Table) words(i int) field {
	f := field{name: t.Columns[i].Name, cells: make([]string, len(t.Rows)), empty: true}
	for r, row := range t.Rows {
		f.cells[r] = word(row[i])
		f.empty = f.empty && absent(row[i])
	}
	return f
}
