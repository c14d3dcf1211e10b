package datasets

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// number is any cell that is written as a decimal integer.
type number interface {
	~int | ~int64
}

func isAbsent(text []byte) bool { return len(text) == 1 && text[0] == '-' }

// parseInt reads a decimal integer without allocating.
func parseInt[T number](v *T, text []byte) error {
	digits, negative := text, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 {
		return notInt(text)
	}
	var n uint64
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxInt64-d)/10 {
			return notInt(text)
		}
		n = n*10 + d
	}
	if uint64(T(n)) != n { // an int of 32 bits
		return notInt(text)
	}
	if negative {
		*v = T(-int64(n))
	} else {
		*v = T(n)
	}
	return nil
}

func notInt(text []byte) error {
	digits, negative := bytes.CutPrefix(text, []byte{'-'})
	switch {
	case !allDigits(digits):
		return fmt.Errorf("%s: want a whole number", clip(text))
	case negative:
		return fmt.Errorf("%s: too small", clip(text))
	}
	return fmt.Errorf("%s: too large", clip(text))
}

func allDigits(text []byte) bool {
	return len(text) > 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// clip quotes a cell for an error, so that a huge one stays one line.
func clip(text []byte) string {
	if len(text) > 40 {
		return strconv.Quote(string(text[:40])) + "…"
	}
	return strconv.Quote(string(text))
}

func parseOptional[T number](v *Optional[T], text []byte) error {
	*v = Optional[T]{}
	if isAbsent(text) {
		return nil
	}
	var n T
	err := parseInt(&n, text)
	if err == nil {
		*v = Some(n)
	}
	return err
}

func appendOptional[T number](dst []byte, v Optional[T]) []byte {
	n, ok := v.Value()
	if !ok {
		return append(dst, '-')
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

func parseOutcome(v *Outcome, text []byte) error {
	names := outcomeNames()
	for i, name := range names {
		if string(text) == name {
			*v = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("%s: not an outcome (want %s)", clip(text), strings.Join(names[:], ", "))
}

// A stamp is written as its nanoseconds and the first letter of its source:
// 1790000000123456789k.
func parseStamp(s *Stamp, clock ClockID, text []byte) error {
	*s = Stamp{}
	if isAbsent(text) || len(text) == 0 {
		return nil
	}
	last := len(text) - 1
	for source, name := range sourceNames() {
		if text[last] != name[0] {
			continue
		}
		var ns time.Duration
		if err := parseInt(&ns, text[:last]); err != nil {
			break
		}
		*s = NewStamp(int64(ns), clock, Source(source))
		return nil
	}
	return fmt.Errorf("%s: want nanoseconds and u, k or h for their source", clip(text))
}

func appendStamp(dst []byte, s Stamp) []byte {
	if !s.present {
		return append(dst, '-')
	}
	return append(strconv.AppendInt(dst, s.unixNanos, 10), s.source.String()[0])
}

func parseText(v *string, text []byte) error {
	*v = ""
	if isAbsent(text) {
		return nil
	}
	s := string(text)
	if strings.HasPrefix(s, `"`) {
		plain, err := strconv.Unquote(s)
		if err != nil {
			return fmt.Errorf("%s: not a quoted string", clip(text))
		}
		s = plain
	}
	*v = s
	return nil
}

func appendText(dst []byte, s string) []byte {
	switch {
	case s == "":
		return append(dst, '-')
	case s == "-" || strings.HasPrefix(s, `"`) || strings.ContainsFunc(s, notPlain):
		return strconv.AppendQuote(dst, s)
	}
	return append(dst, s...)
}
