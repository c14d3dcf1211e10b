package datasets

import (
	"fmt"
	"math"
)

// A row's fields are its values by their types, in the order of its columns, for files that
// keep numbers as numbers: a wholeField, a realField, a wordField, or a stamped. Each has
// what the cell of its column has, which FuzzParquetIsIdentity holds.

// wholeField is a whole number.
type wholeField interface {
	get() (n int64, ok bool)
	// set returns false for a number that no row can have.
	set(n int64) bool
	// miss says that the value is absent, and returns false if it must not be. The row
	// was empty before.
	miss() bool
}

// wordField is a text; an absent one is "".
type wordField interface {
	get() string
	set(text string) error
	must() bool // be there
}

type whole[T number] struct{ at *T }

func (f whole[T]) get() (int64, bool) { return int64(*f.at), true }
func (f whole[T]) set(n int64) bool   { *f.at = T(n); return n != math.MinInt64 && int64(T(n)) == n }
func (whole[T]) miss() bool           { return false }

type perhaps[T number] struct{ at *Optional[T] }

func (f perhaps[T]) get() (int64, bool) { return int64(f.at.value), f.at.present }
func (f perhaps[T]) set(n int64) bool {
	*f.at = Some(T(n))
	return n != math.MinInt64 && int64(T(n)) == n
}
func (perhaps[T]) miss() bool { return true }

// elapsed is that of an attempt: absent where there was no answer.
type elapsed struct{ of *Sample }

func (f elapsed) get() (int64, bool) {
	return int64(f.of.Elapsed), f.of.Outcome.Answered() || f.of.Elapsed != 0
}
func (f elapsed) set(n int64) bool { return whole[int64]{(*int64)(&f.of.Elapsed)}.set(n) }
func (f elapsed) miss() bool       { f.of.Elapsed = noElapsed; return true } // check knows whether it may be

type realField struct{ at *Optional[float64] }

func (f realField) set(v float64) bool {
	*f.at = Some(v)
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}

type textOf[T ~string] struct{ at *T }

func (f textOf[T]) get() string           { return string(*f.at) }
func (f textOf[T]) set(text string) error { *f.at = T(text); return nil }
func (textOf[T]) must() bool              { return false }

type outcomeField struct{ at *Outcome }

func (f outcomeField) get() string { return f.at.String() }
func (outcomeField) must() bool    { return true }
func (f outcomeField) set(text string) error {
	if text == "replied" { // most are
		*f.at = Replied
		return nil
	}
	return parseOutcome(f.at, []byte(text))
}

// stamped is a stamp, which is two values: its nanoseconds and its source. The
// nanoseconds are set first.
type stamped struct {
	at    *Stamp
	clock ClockID
}

func (f stamped) get() (int64, bool) { return f.at.unixNanos, f.at.present }
func (stamped) miss() bool           { return true }
func (f stamped) set(n int64) bool {
	*f.at = NewStamp(n, f.clock, User)
	return n != math.MinInt64
}

type sourceField struct{ at *Stamp }

func (sourceField) must() bool { return false }
func (f sourceField) get() string {
	if !f.at.present {
		return ""
	}
	return f.at.source.String()
}

func (f sourceField) set(text string) error {
	for source, name := range sourceNames() {
		if text == name {
			if f.at.present {
				f.at.source = Source(source)
			}
			return nil
		}
	}
	return fmt.Errorf("%s: want user, kernel or hardware", clip([]byte(text)))
}
