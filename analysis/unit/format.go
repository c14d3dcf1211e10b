package unit

import (
	"math"
	"strconv"
	"strings"
)

// Absent stands for a number there is none of.
const Absent = "–"

// Format returns v, which is in unit, with its own prefix and three significant
// digits: "3.46 ms", "0.62 %", "36,887". Digits before the decimal point are never
// rounded away, zeros that would claim more than v says are left off ("50 ms"),
// and NaN and infinities are [Absent].
func Format(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Absent
	}
	p := Choose(unit, v)
	shown := v * p.Factor
	return p.With(Number(shown, Decimals(shown, 3)))
}

// With returns number followed by the symbol, if there is one.
func (p Prefix) With(number string) string {
	if p.Symbol == "" {
		return number
	}
	return number + " " + p.Symbol
}

// Decimals returns how many digits after the point show v with so many significant
// digits, or fewer if they say all there is to say of v. At most 300.
func Decimals(v float64, significant int) int {
	if v == 0 {
		return 0
	}
	wanted := min(max(significant-1-exponent(v, significant), 0), 300)
	for d := range wanted {
		if scaled := v * math.Pow10(d); math.Abs(scaled-math.Round(scaled)) < 1e-9*math.Abs(scaled) {
			return d
		}
	}
	return wanted
}

// exponent returns the power of ten of v's first digit once rounded.
func exponent(v float64, significant int) int {
	text := strconv.FormatFloat(v, 'e', significant-1, 64)
	_, power, _ := strings.Cut(text, "e")
	e, _ := strconv.Atoi(power)
	return e
}

// Number returns v with so many digits after the point and thousands grouped. A
// number too small for that, or too long to read, is written with an exponent.
func Number(v float64, decimals int) string {
	a := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Absent
	case a >= 1e15:
		return exponential(v, 2)
	case v == 0 && decimals > 6:
		return "0"
	case a < 1e-4 && decimals > 6:
		return exponential(v, max(decimals+exponent(v, 17), 0))
	}
	return group(strconv.FormatFloat(v, 'f', decimals, 64))
}

func exponential(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'e', decimals, 64)
	return strings.NewReplacer("e-0", "e-", "e+0", "e+").Replace(text)
}

// Count returns n with its thousands grouped: 36,887.
func Count(n int64) string { return group(strconv.FormatInt(n, 10)) }

func group(digits string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	whole, fraction := digits, ""
	if point := strings.IndexByte(digits, '.'); point >= 0 {
		whole, fraction = digits[:point], digits[point:]
	}
	if strings.Trim(whole+fraction, "0.") == "" {
		sign = "" // rounded to nothing: "-0" would be a claim about its sign
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + fraction
}
