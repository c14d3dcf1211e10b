package report

import (
	"slices"
	"strings"
)

// layOut arranges fields as lines: a grid; one with its headings broken, or its longest
// sentences; or, if that is too wide still, one grid below the other, each with the
// first field as label. A single row of many fields is turned into lines.
func layOut(all []field, rows int) []string {
	const within = room - 2
	switch {
	case rows == 0:
		return []string{"(no rows)"}
	case len(all) == 0:
		return []string{"(nothing in any row)"}
	case rows == 1 && len(all) > manyFields:
		return turned(all, within)
	}
	for _, lines := range [][]string{grid(all, false), grid(all, true), folded(all, within)} {
		if lines != nil && widest(lines) <= within {
			return lines
		}
	}
	if rows == 1 {
		return turned(all, within)
	}
	if label := all[0]; label.right || widest(label.cells) <= within/3 {
		return beneath(all[1:], within, func(part []field) []string {
			return grid(append([]field{label}, part...), true)
		})
	}
	return beneath(all[1:], within, func(part []field) []string { return labelled(all[0], part) })
}

// beneath fills one grid after the other with as many fields as fit.
func beneath(rest []field, within int, lines func([]field) []string) []string {
	var out []string
	for len(rest) > 0 {
		n := 1
		for n < len(rest) && widest(lines(rest[:n+1])) <= within {
			n++
		}
		if out != nil {
			out = append(out, "")
		}
		out = append(out, lines(rest[:n])...)
		rest = rest[n:]
	}
	return out
}

// grid returns the headings, the units if there are any, and the rows.
func grid(all []field, broken bool) []string {
	columns := make([][]string, len(all))
	height := 0
	units := slices.ContainsFunc(all, func(f field) bool { return f.unit != "" })
	for i, f := range all {
		if columns[i] = f.heading(broken); units {
			columns[i] = append(columns[i], f.unit+strings.Repeat(" ", f.tail))
		}
		height = max(height, len(columns[i]))
	}
	for i, f := range all {
		top := make([]string, height-len(columns[i]), height+len(f.cells))
		columns[i] = f.align(append(append(top, columns[i]...), f.cells...))
	}
	lines := make([]string, len(columns[0]))
	for r := range lines {
		var b strings.Builder
		for i := range columns {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(columns[i][r])
		}
		lines[r] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// labelled is a grid whose first field, too wide for a column, stands above each row.
func labelled(label field, rest []field) []string {
	lines := grid(rest, true)
	head := len(lines) - len(label.cells)
	out := []string{label.title()}
	for _, l := range lines[:head] {
		out = append(out, "    "+l)
	}
	for i, l := range lines[head:] {
		out = append(out, label.cells[i], "    "+l)
	}
	return out
}

// turned shows one row as a line for each field.
func turned(all []field, within int) []string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.title()
	}
	var out []string
	for i, name := range padded(names) {
		first := name + "  "
		out = append(out, wrap(all[i].inWords(0), first, strings.Repeat(" ", width(first)), within)...)
	}
	return out
}

// inWords returns a cell with its unit: 0.04 % [0.01, 0.09].
func (f *field) inWords(row int) string {
	cell := strings.TrimSpace(f.cells[row])
	if f.unit == "" {
		return cell
	}
	value, interval, _ := strings.Cut(cell, " ")
	if strings.HasPrefix(value, "[") {
		return cell + " " + f.unit
	}
	return strings.TrimRight(value+" "+f.unit+" "+strings.TrimSpace(interval), " ")
}

func (f *field) title() string { return strings.ReplaceAll(f.name, "_", " ") }

// heading returns the field's name in one line or, broken, in as many as keep it about
// as narrow as its cells.
func (f *field) heading(broken bool) []string {
	if !broken {
		return []string{f.title()}
	}
	within := widest(f.cells)
	for word := range strings.FieldsSeq(f.title()) {
		within = max(within, width(word))
	}
	return wrap(f.title(), "", "", within)
}

func (f *field) align(cells []string) []string {
	if f.right {
		return leftPadded(cells)
	}
	return padded(cells)
}
