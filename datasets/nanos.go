package datasets

import (
	"fmt"
	"math"
	"time"
)

// parseNanos reads a decimal number of units, which may have a sign and an exponent, as
// whole nanoseconds, exactly but for the last one: digits below it are rounded, half away
// from zero. A float64 would lose the nanoseconds of a time since 1970. It does not
// allocate.
func parseNanos(text []byte, unit time.Duration) (time.Duration, error) {
	d, ok := scanDecimal(text)
	if !ok {
		return 0, fmt.Errorf("%s: want a decimal number", clip(text))
	}
	n, ok := d.times(unit)
	if !ok {
		return 0, fmt.Errorf("%s: too large", clip(text))
	}
	return n, nil
}

// decimal is digits × 10^exponent.
type decimal struct {
	digits   uint64
	exponent int
	negative bool
}

// scanDecimal reads [+-]digits[.digits][e[+-]digits]. Of more than 19 digits those that
// follow are left out.
func scanDecimal(text []byte) (d decimal, ok bool) {
	negative, text := cutSign(text)
	var n uint64
	seen, point, dropped := 0, -1, 0
	for i, b := range text {
		switch c := b - '0'; {
		case c <= 9:
			seen++
			if n > (math.MaxUint64-9)/10 {
				dropped++
				continue
			}
			n = n*10 + uint64(c)
		case b == '.' && point < 0:
			point = seen
		case seen > 0 && b|0x20 == 'e':
			e, ok := addExponent(dropped, text[i+1:])
			return decimal{n, e, negative}.pointed(seen, point), ok
		default:
			return d, false
		}
	}
	return decimal{n, dropped, negative}.pointed(seen, point), seen > 0
}

func cutSign(text []byte) (negative bool, rest []byte) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		return text[0] == '-', text[1:]
	}
	return false, text
}

// pointed counts the digits behind the decimal point into the exponent.
func (d decimal) pointed(seen, point int) decimal {
	if point >= 0 {
		d.exponent -= seen - point
	}
	return d
}

func addExponent(to int, text []byte) (int, bool) {
	negative, text := cutSign(text)
	e := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = min(e*10+int(c-'0'), 1<<20)
	}
	if negative {
		e = -e
	}
	return to + e, len(text) > 0
}

// times returns the number as that many units, and false if it does not fit.
func (d decimal) times(unit time.Duration) (time.Duration, bool) {
	n, exponent := d.digits, d.exponent+unitExponent(unit)
	for ; exponent > 0 && n > 0; exponent-- {
		if n > math.MaxInt64/10 {
			return 0, false
		}
		n *= 10
	}
	if exponent < -19 {
		n = 0
	} else if exponent < 0 {
		n = divideRounded(n, powerOfTen(-exponent))
	}
	if n > math.MaxInt64 {
		return 0, false
	}
	if d.negative {
		return -time.Duration(n), true
	}
	return time.Duration(n), true
}

// unitExponent is the power of ten that a unit is of nanoseconds.
func unitExponent(unit time.Duration) (e int) {
	if unit == time.Second { // most are
		return 9
	}
	for ; unit >= 10; unit /= 10 {
		e++
	}
	return e
}

func divideRounded(n, by uint64) uint64 {
	q, r := n/by, n%by
	if r >= by-r {
		q++
	}
	return q
}

func powerOfTen(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
