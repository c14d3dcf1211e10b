package report

import (
	"math"
	"strings"

	"github.com/tickmark/tickmark/analysis/unit"
)

// numbers shows columns of numbers as one field: one prefix for all of them, the
// decimal points one under the other.
func (t *Table) numbers(name, base string, from source) field {
	scaled := t.scaled(from)
	var all []float64
	for _, q := range scaled {
		all = append(all, q.value, q.low, q.high)
	}
	prefix := unit.Choose(base, all...)
	for i := range scaled {
		scaled[i].scale(prefix.Factor)
	}
	decimals := places(scaled)
	values, intervals := make([]string, len(scaled)), make([]string, len(scaled))
	f := field{name: name, unit: prefix.Symbol, right: true, empty: true}
	for i, q := range scaled {
		values[i] = q.text(decimals[i])
		if from.value >= 0 {
			values[i] = t.exact(t.Rows[i][from.value], prefix, values[i])
		}
		intervals[i] = q.interval(decimals[i])
		f.empty = f.empty && values[i] == unit.Absent && intervals[i] == ""
	}
	values = atPoint(values)
	f.cells = beside(values, intervals)
	f.tail = widest(f.cells) - widest(values)
	if from.value < 0 {
		f.cells, f.tail = padded(intervals), 0
	}
	return f
}

// exact returns a cell that needs no rounding: a whole number beyond what a float
// holds, or a word among the numbers.
func (t *Table) exact(cell any, p unit.Prefix, rounded string) string {
	switch v := cell.(type) {
	case int:
		if p.Factor == 1 {
			return unit.Count(int64(v))
		}
	case int64:
		if p.Factor == 1 {
			return unit.Count(v)
		}
	case string, bool:
		return word(v)
	}
	return rounded
}

// quantity is a value and its interval, NaN where there is none.
type quantity struct{ value, low, high float64 }

func (t *Table) scaled(from source) []quantity {
	at := func(row []any, column int) float64 {
		if column >= 0 {
			if v, ok := number(row[column]); ok {
				return v
			}
		}
		return math.NaN()
	}
	all := make([]quantity, len(t.Rows))
	for i, row := range t.Rows {
		all[i] = quantity{at(row, from.value), at(row, from.low), at(row, from.high)}
	}
	return all
}

func (q *quantity) scale(factor float64) {
	q.value, q.low, q.high = q.value*factor, q.low*factor, q.high*factor
}

func (q *quantity) text(decimals int) string { return unit.Number(q.value, decimals) }

func (q *quantity) interval(decimals int) string {
	if math.IsNaN(q.low) && math.IsNaN(q.high) {
		return ""
	}
	return "[" + unit.Number(q.low, decimals) + ", " + unit.Number(q.high, decimals) + "]"
}

// main returns the number that stands for q when there is one.
func (q *quantity) main() float64 {
	for _, v := range []float64{q.value, q.high, q.low} {
		if !math.IsNaN(v) {
			return v
		}
	}
	return 0
}

// earned returns the decimals that q's interval justifies (it then spans about ten
// units of the last place), or those of so many significant digits without one.
func (q *quantity) earned(significant int) int {
	width := q.high - q.low
	if !(width > 0) || math.IsInf(width, 0) {
		return unit.Decimals(q.main(), significant)
	}
	least := 0
	for _, v := range []float64{q.value, q.low, q.high} {
		least = max(least, unit.Decimals(v, 15)) // more would be zeros
	}
	return min(max(int(math.Ceil(math.Log10(8/width))), 0), least)
}

// room returns the decimals of three significant digits, zeros among them, where no
// interval says how many are earned: 2.00 may stand in a column of 1.93.
func (q *quantity) room() int {
	if q.high > q.low {
		return 0
	}
	return 2 - int(math.Floor(math.Log10(math.Abs(q.main()))))
}

// places returns the decimals of each row. They are the same for all if that shows
// the largest with three significant digits and every other with two, and no row
// with more than one digit it has not earned; else each row has its own.
func places(all []quantity) []int {
	own, common, largest := make([]int, len(all)), 0, 0.0
	for i, q := range all {
		own[i] = q.earned(3)
		common = max(common, q.earned(2))
		if m := math.Abs(q.main()); m > largest {
			largest = m
		}
	}
	for i, q := range all {
		if math.Abs(q.main()) == largest {
			common = max(common, own[i])
		}
	}
	uniform := make([]int, len(all))
	for i, q := range all {
		if common > max(own[i], q.room())+1 && q.main() != 0 {
			return own
		}
		uniform[i] = common
	}
	return uniform
}

// atPoint pads numbers to one width with their decimal points in one column.
func atPoint(cells []string) []string {
	tail := 0
	for _, c := range cells {
		tail = max(tail, width(c)-width(whole(c)))
	}
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c + strings.Repeat(" ", tail-(width(c)-width(whole(c))))
	}
	return leftPadded(out)
}

// whole returns what stands before the decimal point.
func whole(number string) string {
	before, _, _ := strings.Cut(number, ".")
	return before
}

// beside puts the intervals to the right of the values.
func beside(values, intervals []string) []string {
	all := padded(intervals)
	for i := range all {
		if len(all[i]) > 0 {
			all[i] = values[i] + " " + all[i]
		} else {
			all[i] = values[i]
		}
	}
	return all
}
