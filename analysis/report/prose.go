package report

import "strings"

// hardSpace holds together what stands between backquotes while a line is broken: a
// command is copied whole.
const hardSpace = "\x00"

// prose lays out a table of sentences, row by row under the values of its Prose column:
//
//	problem
//	  time daemons  chronyd and ntpd both steer CLOCK_REALTIME
//	    why         each takes the other's correction for an error
//
// The first column is the label of the row and the next its text; every further one
// that says something follows under its own name.
func (t *Table) prose(within int) []string {
	group := t.column(t.Prose)
	gutter := t.gutter(group)
	var out []string
	under := ""
	for r, row := range t.Rows {
		if value := word(row[group]); r == 0 || value != under {
			if r > 0 {
				out = append(out, "")
			}
			out, under = append(out, value), value
		} else if t.says(row, group) > 1 || t.says(t.Rows[r-1], group) > 1 {
			out = append(out, "")
		}
		out = append(out, t.paragraph(row, group, gutter, within)...)
	}
	return out
}

// paragraph is one row: its label with the first text, the others below.
func (t *Table) paragraph(row []any, group, gutter, within int) []string {
	var out []string
	label := "  " + said(row[0])
	for i, c := range t.Columns {
		if i == 0 || i == group || absent(row[i]) {
			continue
		}
		if out != nil {
			label = "    " + strings.ReplaceAll(c.Name, "_", " ")
		}
		first := label + strings.Repeat(" ", gutter-width(label))
		for _, line := range wrap(unbroken(said(row[i])), first, strings.Repeat(" ", gutter), within) {
			out = append(out, strings.ReplaceAll(line, hardSpace, " "))
		}
	}
	if out == nil {
		return []string{label}
	}
	return out
}

// said is a cell in words; a number is said as it is.
func said(cell any) string {
	if _, ok := number(cell); ok {
		return bare(cell)
	}
	return strings.ReplaceAll(word(cell), hardSpace, "")
}

// says counts the texts of a row.
func (t *Table) says(row []any, group int) int {
	n := 0
	for i := range row {
		if i > 0 && i != group && !absent(row[i]) {
			n++
		}
	}
	return n
}

// gutter is how far texts are set in: past the longest label, two spaces on.
func (t *Table) gutter(group int) int {
	w := 0
	for _, row := range t.Rows {
		w = max(w, 2+width(said(row[0])))
	}
	for i, c := range t.Columns {
		if i > 0 && i != group {
			w = max(w, 4+width(c.Name))
		}
	}
	return w + 2
}

// unbroken makes the spaces between two backquotes hard; a single one is only a mark.
func unbroken(text string) string {
	parts := strings.Split(text, "`")
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], " ", hardSpace)
	}
	return strings.Join(parts, "`")
}
