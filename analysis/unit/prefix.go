package unit

import (
	"math"
	"slices"
)

// Prefix is how a quantity is shown: the number times Factor, then Symbol, which
// is empty for a count.
type Prefix struct {
	Factor float64
	Symbol string
}

// scale is one way to write a unit: a number of these is that number times
// 10^exponent of the base unit.
type scale struct {
	symbol   string
	exponent int
}

// scales returns the ways to show a unit, smallest first, and false for a unit
// that is shown as it is.
func scales(unit string) ([]scale, bool) {
	switch unit {
	case "s":
		return []scale{{"ns", -9}, {"µs", -6}, {"ms", -3}, {"s", 0}}, true
	case "ns":
		return []scale{{"ns", 0}, {"µs", 3}, {"ms", 6}, {"s", 9}}, true
	case "B", "Hz":
		return []scale{{unit, 0}, {"k" + unit, 3}, {"M" + unit, 6}, {"G" + unit, 9}, {"T" + unit, 12}}, true
	case "ratio":
		return []scale{{"%", -2}}, true
	case "count":
		return []scale{{"", 0}}, true
	}
	return nil, false
}

// Choose returns one prefix for all values of a column or an axis, which are in
// unit: "s", "ns", "ratio", "ppm", "count", "B", "Hz", or any other, which gets no
// prefix. It suits the middle of their logarithms, so that neither the smallest
// nor the largest is hard to read; zeros, NaN and infinities have no say.
func Choose(unit string, values ...float64) Prefix {
	ways, ok := scales(unit)
	if !ok {
		return Prefix{1, unit}
	}
	if middle, ok := middle(values); ok {
		return best(ways, middle)
	}
	base := slices.IndexFunc(ways, func(w scale) bool { return w.exponent == 0 })
	return ways[max(base, 0)].prefix()
}

// best returns the largest way that shows v as at least 1 once it is rounded to
// three digits, or the smallest there is.
func best(ways []scale, v float64) Prefix {
	for _, w := range slices.Backward(ways) {
		if p := w.prefix(); v*p.Factor >= 0.9995 {
			return p
		}
	}
	return ways[0].prefix()
}

// middle returns the geometric middle of the least and the greatest magnitude. A
// value under a ten-thousandth of the greatest does not pull it down further.
func middle(values []float64) (float64, bool) {
	least, greatest := math.Inf(1), 0.0
	for _, v := range values {
		if v = math.Abs(v); v > 0 && !math.IsInf(v, 1) {
			least, greatest = min(least, v), max(greatest, v)
		}
	}
	least = max(least, greatest*1e-4)
	return math.Sqrt(least) * math.Sqrt(greatest), greatest > 0
}

// prefix turns 10^exponent over: Pow10 is exact for both signs where its result is
// a whole number, which the quotient of one would not be.
func (s scale) prefix() Prefix { return Prefix{math.Pow10(-s.exponent), s.symbol} }
