package datasets

import (
	"strconv"
	"strings"
)

// cellForm says what the cells of a column are, for forms that tell numbers from text.
type cellForm uint8

const (
	numberCell cellForm = iota
	textCell
	stampCell // nanoseconds and the letter of their source
)

// forms returns those of a row's columns.
func forms(row Row) []cellForm {
	var all []cellForm
	for _, f := range row.fields() {
		switch f.(type) {
		case wordField:
			all = append(all, textCell)
		case stamped:
			all = append(all, stampCell)
		default:
			all = append(all, numberCell)
		}
	}
	return all
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
	var cells []string
	if text := *row.extra(); text != "" || len(columns) == 1 {
		cells = strings.Split(text, "\t")
	}
	for len(cells) < len(columns) {
		cells = append(cells, "-")
	}
	return cells[:len(columns)]
}
