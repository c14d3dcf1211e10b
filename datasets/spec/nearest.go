package spec

import (
	"fmt"
	"strings"
)

// Unknown returns the *UsageError that name is no such noun, with the nearest of the
// right names, or all of them if none is near and they are few.
func Unknown(noun, name string, names []string) error {
	return &UsageError{unknown(noun, name, names)}
}

// unknown says that name is no such noun, with the nearest right name if one is
// near, or all of them if they are few.
func unknown(noun, name string, names []string) string {
	msg := fmt.Sprintf("unknown %s %q", noun, name)
	if near, ok := Nearest(name, names); ok {
		return msg + fmt.Sprintf(": did you mean %q?", near)
	}
	if len(names) > 0 && len(names) <= 12 {
		return msg + ": want " + strings.Join(names, ", ")
	}
	return msg
}

// Nearest returns the name that fewest edits make of text, and false if even
// that one would change more than half of it. Case does not count, and the beginning
// of a name is one edit away from it.
func Nearest(text string, names []string) (string, bool) {
	best, distance := "", len(text)/2+1
	text = strings.ToLower(text)
	for _, n := range names {
		lower := strings.ToLower(n)
		if d := edits(text, lower); d < distance {
			best, distance = n, d
		}
		if len(text) >= 3 && strings.HasPrefix(lower, text) && distance > 1 {
			best, distance = n, 1
		}
	}
	return best, best != ""
}

// edits is the Levenshtein distance, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
