package datasets

import (
	"errors"
	"fmt"
	"strings"
)

// badLines counts the lines that a reader passed over and keeps the first three.
type badLines struct {
	count int64
	first []*SyntaxError
}

// add takes a *SyntaxError, and returns false for any other error.
func (b *badLines) add(err error) bool {
	var place *SyntaxError
	if !errors.As(err, &place) {
		return false
	}
	b.count++
	if len(b.first) < 3 {
		b.first = append(b.first, place)
	}
	return true
}

func (b *badLines) warnings(name string) []string {
	if b.count == 0 {
		return nil
	}
	places := make([]string, len(b.first))
	for i, p := range b.first {
		places[i] = p.Msg
		if p.Line > 0 {
			places[i] = fmt.Sprintf("line %d: %s", p.Line, p.Msg)
		}
	}
	what := "1 line could not be read and is left out"
	if b.count > 1 {
		what = fmt.Sprintf("%d lines could not be read and are left out", b.count)
	}
	return []string{fmt.Sprintf("%s: %s: %s", name, what, strings.Join(places, "; "))}
}
