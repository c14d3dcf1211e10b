package datasets

import (
	"errors"
	"time"
)

// Entry is the round-trip time between two places as a matrix of them has it: a row of a
// matrix trace. It says nothing of when, or of how many calls.
type Entry struct {
	From, To string
	Elapsed  Optional[time.Duration]
	Extra    string // cells of columns this version does not know, tab-separated
}

// Kind returns Matrices.
func (e *Entry) Kind() Kind { return Matrices }

func (e *Entry) columns() []string { return []string{"from", "to", "elapsed"} }

func (e *Entry) parse(column int, text []byte) error {
	switch column {
	case 0:
		return parseText(&e.From, text)
	case 1:
		return parseText(&e.To, text)
	default:
		return parseOptional(&e.Elapsed, text)
	}
}

func (e *Entry) append(dst []byte, column int) []byte {
	switch column {
	case 0:
		return appendText(dst, e.From)
	case 1:
		return appendText(dst, e.To)
	default:
		return appendOptional(dst, e.Elapsed)
	}
}

func (e *Entry) check() error {
	d, ok := e.Elapsed.Value()
	switch {
	case e.From == "" || e.To == "":
		return errors.New(`from or to "-": an entry is between two`)
	case ok && d < 0:
		return belowZero("elapsed", int64(d))
	case d > farthest:
		return errors.New("elapsed: more than 146 years")
	}
	return nil
}

func (e *Entry) fields() []any {
	return []any{
		textOf[string]{&e.From}, textOf[string]{&e.To}, perhaps[time.Duration]{&e.Elapsed},
	}
}

func (e *Entry) extra() *string { return &e.Extra }
func (e *Entry) reset()         { *e = Entry{} }
