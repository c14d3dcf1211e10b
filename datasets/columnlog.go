package datasets

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// columnLog reads a log whose every line has the same columns, with blanks between them.
type columnLog struct {
	counts []int                             // how many columns a line may have
	passed func(line []byte) bool            // lines that are none of them, such as a banner; nil is none
	valid  func(f columns) bool              // whether the columns are of this log and of no other
	row    func(f *columns, out *rows) error // puts what a line tells
	want   string                            // what a line should have, for errors
}

func (c columnLog) bind(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(c.is, byLine(func() dialect { return &columnReader{columnLog: c} }))(fs)
}

func (c columnLog) is(head []byte) bool {
	var f columns
	for line := range firstLines(head) {
		if len(line) == 0 || c.passed != nil && c.passed(line) {
			continue
		}
		f.split(line)
		return slices.Contains(c.counts, f.n) && c.valid(f)
	}
	return false
}

type columnReader struct {
	columnLog
	f     columns
	begun bool // there was a line of this log
}

func (c *columnReader) line(text []byte, out *rows) error {
	if len(text) == 0 || c.passed != nil && c.passed(text) {
		return nil
	}
	c.f.split(text)
	switch {
	case !slices.Contains(c.counts, c.f.n):
		return fmt.Errorf("%d columns: want %s", c.f.n, c.want)
	case !c.begun && !c.valid(c.f): // of one that is, every cell is still to be read
		return fmt.Errorf("%s: want %s", clip(text), c.want)
	}
	c.begun = true
	if err := c.row(&c.f, out); err != nil {
		return err
	}
	return c.f.err
}

func (columnReader) end(*rows) error { return nil }

// columns are the cells of a line and the first error that reading one of them gave.
type columns struct {
	cell [40][]byte
	n    int
	err  error

	extra extraCells
}

func (c *columns) split(line []byte) {
	c.n, c.err = fields(line, c.cell[:]), nil
}

func (c *columns) fail(i int, err error) {
	if c.err == nil {
		c.err = fmt.Errorf("column %d, %w", i+1, err)
	}
}

// seconds reads a cell as seconds, in whole nanoseconds; so do the ones below in other
// units.
func (c *columns) seconds(i int) time.Duration { return c.nanos(i, time.Second) }

func (c *columns) nanos(i int, unit time.Duration) time.Duration {
	d, err := parseNanos(c.cell[i], unit)
	if err != nil {
		c.fail(i, err)
	}
	return d
}

func (c *columns) whole(i int) int {
	var n int
	if err := parseInt(&n, c.cell[i]); err != nil {
		c.fail(i, err)
	}
	return n
}

// real reads a cell that may have any number of digits.
func (c *columns) real(i int) float64 {
	v, err := strconv.ParseFloat(string(c.cell[i]), 64)
	if err != nil {
		c.fail(i, fmt.Errorf("%s: want a number", clip(c.cell[i])))
	}
	return v
}

// ppb reads a rate in ppm.
func (c *columns) ppb(i int) PPB { return PPB(c.nanos(i, time.Microsecond)) }

// extraCells writes the cells of columns that only one tool has, one after the other. Its
// room is used again, and so is the text if it is the same as that of the row before.
type extraCells struct {
	text []byte
	last string
}

func (e *extraCells) begin() *extraCells {
	e.text = e.text[:0]
	return e
}

func (e *extraCells) cell(text []byte) *extraCells {
	e.separate()
	e.text = append(e.text, text...)
	return e
}

func (e *extraCells) word(text string) *extraCells {
	e.separate()
	e.text = append(e.text, text...)
	return e
}

func (e *extraCells) span(d time.Duration) *extraCells { return e.whole(int64(d)) }

func (e *extraCells) whole(n int64) *extraCells {
	e.separate()
	e.text = strconv.AppendInt(e.text, n, 10)
	return e
}

func (e *extraCells) separate() {
	if len(e.text) > 0 {
		e.text = append(e.text, '\t')
	}
}

func (e *extraCells) String() string {
	if string(e.text) != e.last {
		e.last = string(e.text)
	}
	return e.last
}

// isNumber reports whether a cell begins as a number does.
func isNumber(cell []byte) bool {
	_, ok := scanDecimal(cell)
	return ok
}

func allNumbers(cells ...[]byte) bool {
	return !slices.ContainsFunc(cells, func(c []byte) bool { return !isNumber(c) })
}
