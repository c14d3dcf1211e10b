package datasets

import (
	"strconv"
	"strings"
)

// Check is one thing that holds of a good trace, and how often it did not.
type Check struct {
	Name   string
	What   string // must hold
	Broken int64  // rows, or 1
	First  string // where
}

// Validate reads a trace to its end and returns what was held. Faults that the reading of
// the file told are among its warnings.
func Validate(s Stream) ([]Check, error) {
	row, ok := NewRow(s.Header().Kind())
	if !ok {
		return nil, &SyntaxError{Msg: "kind " + clip([]byte(s.Header().Kind())) + " has no rows"}
	}
	v := validation{
		values:  Check{Name: "values", What: "each row is possible"},
		order:   Check{Name: "order", What: "in the order of time"},
		numbers: Check{Name: "numbers", What: "attempts are numbered upwards"},
		seq:     -1 << 63,
	}
	for s.Next(row) {
		v.add(row)
	}
	reading := Check{Name: "reading", What: "whole, every line readable"}
	for _, w := range s.Warnings() {
		if strings.Contains(w, ": "+imported) {
			continue // it was said of another file
		}
		reading.Broken++
		if reading.First == "" {
			reading.First = w
		}
	}
	some := Check{Name: "rows", What: "at least one row"}
	if v.rows == 0 {
		some.Broken = 1
	}
	return []Check{reading, some, v.values, v.order, v.numbers}, s.Err()
}

// validation is what is held of each row.
type validation struct {
	values, order, numbers Check

	rows int64
	last Instant
	seq  int64
}

func (v *validation) add(row Row) {
	v.rows++
	if at, timed := When(row); timed {
		if v.rows > 1 && at < v.last {
			v.order.add(v.rows)
		}
		v.last = at
	}
	if a, is := sampleOf(row); is {
		if a.Seq <= v.seq {
			v.numbers.add(v.rows)
		}
		v.seq = max(v.seq, a.Seq)
	}
	if row.check() != nil {
		v.values.add(v.rows)
	}
}

func (c *Check) add(row int64) {
	if c.Broken++; c.Broken == 1 {
		c.First = "row " + strconv.FormatInt(row, 10)
	}
}
