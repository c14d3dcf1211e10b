package datasets

import (
	"slices"
	"strconv"
	"strings"
)

// cellForm says what the cells of a column are, for forms that tell numbers from text.
type cellForm uint8

const (
	numberCell cellForm = iota
	textCell
	stampCell // nanoseconds and the letter of their source
	realCell  // a number that may have any digits
	rawCell   // of a column that this version does not know: as it stands there
)

// formOf returns the form of one of a kind's columns.
func formOf(kind Kind, column string) cellForm {
	switch {
	case slices.Contains([]string{"t1", "t2", "t3", "t4", "realtime", "wall"}, column):
		return stampCell
	case slices.Contains([]string{"outcome", "reference", "why", "cause", "source", "facts", "from", "to"}, column),
		column == "status" && (kind == SeriesKind || kind == Claims):
		return textCell
	case kind == SeriesKind && (column == "value" || column == "frequency"):
		return realCell
	}
	return numberCell
}

// cellText returns the text that a cell of the native form is of, and false if it is absent.
func cellText(cell []byte) (string, bool) {
	if isAbsent(cell) {
		return "", false
	}
	s := string(cell)
	if strings.HasPrefix(s, `"`) {
		if plain, err := strconv.Unquote(s); err == nil {
			return plain, true
		}
	}
	return s, true
}

// extraOf returns the cells of the columns that only this trace has.
func extraOf(row Row, columns []string) []string {
	if len(columns) == 0 {
		return nil
	}
	cells := strings.Split(*row.extra(), "\t")
	for len(cells) < len(columns) {
		cells = append(cells, "-")
	}
	return cells[:len(columns)]
}
