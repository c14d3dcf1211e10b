package unit

import (
	"math"
	"slices"
)

// Ticks returns the multiples of 1, 2 or 5 times a power of ten that lie in
// [lo, hi], with the finest such step that gives no more than want of them. Less
// than two wanted is two. Nothing comes of limits that are reversed or not finite.
func Ticks(lo, hi float64, want int) []float64 {
	if !(lo <= hi) || math.IsInf(hi-lo, 0) {
		return nil
	}
	limit := float64(max(want, 2))
	step := (hi - lo) / limit
	if step == 0 {
		return []float64{lo}
	}
	power := int(math.Floor(math.Log10(step))) - 1
	for ; ; power++ {
		for _, digit := range []float64{1, 2, 5} {
			first, last := math.Ceil(over(lo, digit, power)), math.Floor(over(hi, digit, power))
			if n := last - first + 1; n <= limit {
				return multiples(first, int(n), digit, power, lo)
			}
		}
	}
}

func multiples(first float64, n int, digit float64, power int, lo float64) []float64 {
	if n < 1 {
		return []float64{lo} // limits so near that no float between them is round
	}
	ticks := make([]float64, n)
	for i := range ticks {
		ticks[i] = shift((first+float64(i))*digit, power)
	}
	return slices.Compact(ticks)
}

// over returns v in steps of digit × 10^power; a hair from a whole number of steps
// is that number, or the tick at a limit would be lost to rounding.
func over(v, digit float64, power int) float64 {
	steps := shift(v, -power) / digit
	if whole := math.Round(steps); math.Abs(steps-whole) < 1e-9 {
		return whole
	}
	return steps
}

// shift returns v × 10^power, dividing for negative powers: 3/10 is 0.3, 3×0.1 is not.
func shift(v float64, power int) float64 {
	if power < 0 {
		return v / math.Pow10(-power)
	}
	return v * math.Pow10(power)
}

// LogTicks returns the powers of ten in [lo, hi], and 2 and 5 times them when the
// limits are less than two decades apart. Within less than that it returns
// [Ticks]; below zero there is nothing to return.
func LogTicks(lo, hi float64) []float64 {
	if !(lo > 0 && lo <= hi) || math.IsInf(hi, 1) {
		return nil
	}
	digits := []float64{1}
	if math.Log10(hi)-math.Log10(lo) < 2 {
		digits = []float64{1, 2, 5}
	}
	var ticks []float64
	for power := int(math.Floor(math.Log10(lo))) - 1; power <= int(math.Ceil(math.Log10(hi))); power++ {
		for _, d := range digits {
			if v := shift(d, power); lo*(1-1e-12) <= v && v <= hi*(1+1e-12) && !math.IsInf(v, 1) {
				ticks = append(ticks, v)
			}
		}
	}
	if len(ticks) < 2 {
		return Ticks(lo, hi, 4)
	}
	return ticks
}
