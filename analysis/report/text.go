package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tickmark/tickmark/analysis/unit"
)

// room is the widest a line of text should be, in characters.
const room = 100

// manyFields is where one row reads better as lines than as a row.
const manyFields = 8

// text writes the answer first, the evidence after it, and the doubts last.
func text(d *Document) ([]byte, error) {
	var blocks []string
	if len(d.Headline) > 0 {
		blocks = append(blocks, strings.Join(headline(d.Headline), "\n"))
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		lines := t.lines()
		if title := title(t, len(d.Tables) > 1); title != "" {
			lines = append(wrap(title, "", "", room-2), lines...)
		}
		blocks = append(blocks, indented(lines))
	}
	var doubts []string
	for _, w := range d.Warnings {
		doubts = append(doubts, wrap(w, "  ! ", "    ", room-2)...)
	}
	if len(doubts) > 0 {
		blocks = append(blocks, strings.Join(doubts, "\n"))
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	return []byte(printable(strings.Join(blocks, "\n\n") + "\n")), nil
}

// lines lays the table out as it asks.
func (t *Table) lines() []string {
	if t.Prose != "" && len(t.Rows) > 0 {
		return t.prose(room - 2)
	}
	return layOut(visible(fields(t)), len(t.Rows))
}

// headline keeps lines that fit as they are, and breaks longer ones below their own
// indent.
func headline(lines []string) []string {
	var out []string
	for _, line := range lines {
		if width(line) <= room {
			out = append(out, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		out = append(out, wrap(line, indent, indent+"  ", room)...)
	}
	return out
}

// printable replaces what could move a terminal's cursor: a target or a file's header
// may have been written by anyone.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// title names a table that has siblings, and says what it shows if it knows.
func title(t *Table, siblings bool) string {
	switch {
	case !siblings:
		return t.Caption
	case t.Caption == "":
		return t.Name
	}
	return t.Name + ": " + t.Caption
}

// visible returns the fields that say something of some row.
func visible(all []field) []field {
	var seen []field
	for _, f := range all {
		if !f.empty {
			seen = append(seen, f)
		}
	}
	return seen
}

func indented(lines []string) string {
	for i, l := range lines {
		if l != "" {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}

// wrap breaks text at spaces into lines no wider than within, if its words allow.
func wrap(text, first, next string, within int) []string {
	var lines []string
	line, empty := first, true
	for word := range strings.FieldsSeq(text) {
		if !empty && width(line)+1+width(word) > within {
			lines = append(lines, line)
			line, empty = next, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return append(lines, line)
}

// word is a cell that is no number.
func word(cell any) string {
	switch v := cell.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	}
	return unit.Absent
}

func width(s string) int { return utf8.RuneCountInString(s) }

func widest(cells []string) int {
	w := 0
	for _, c := range cells {
		w = max(w, width(c))
	}
	return w
}

func padded(cells []string) []string {
	out, w := make([]string, len(cells)), widest(cells)
	for i, c := range cells {
		out[i] = c + strings.Repeat(" ", w-width(c))
	}
	return out
}

func leftPadded(cells []string) []string {
	out, w := make([]string, len(cells)), widest(cells)
	for i, c := range cells {
		out[i] = strings.Repeat(" ", w-width(c)) + c
	}
	return out
}
