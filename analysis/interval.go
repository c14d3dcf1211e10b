package analysis

import "github.com/tickmark/tickmark/datasets"

// Interval is a number with its limits, in base units. Value, Lo and Hi are absent,
// each for itself, where the data cannot tell; a warning then says why.
type Interval struct {
	Value, Lo, Hi datasets.Optional[float64]
	N             int64   // samples behind it
	Level         float64 // confidence of the limits, such as 0.95
	Method        string
	Warnings      []string
}

// Cells returns value and limits as cells of a report: float64, or nil if absent.
func (i Interval) Cells() (value, lo, hi any) { return Cell(i.Value), Cell(i.Lo), Cell(i.Hi) }

// Cell returns the value of o, or nil if it is absent: a cell of a report.
func Cell[T any](o datasets.Optional[T]) any {
	if v, ok := o.Value(); ok {
		return v
	}
	return nil
}

// about returns the warnings of i, each saying what it is about.
func (i Interval) about(what string) []string {
	var out []string
	for _, w := range i.Warnings {
		out = append(out, what+" "+w)
	}
	return out
}

// Over returns the interval of i ÷ by, for a count that was seen over a length of
// time or a number of trials.
func (i Interval) Over(by float64) Interval {
	for _, o := range []*datasets.Optional[float64]{&i.Value, &i.Lo, &i.Hi} {
		if v, ok := o.Value(); ok && by > 0 {
			*o = datasets.Some(v / by)
		} else {
			*o = datasets.Optional[float64]{}
		}
	}
	return i
}
