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
	f columns
}

func (c *columnReader) line(text []byte, out *rows) error {
	if len(text) == 0 || c.passed != nil && c.passed(text) {
		return nil
	}
	c.f.split(text)
	switch {
	case !slices.Contains(c.counts, c.f.n):
		return fmt.Errorf("%d columns: want %s", c.f.n, c.want)
	case !c.valid(c.f):
		return fmt.Errorf("%s: want %s", clip(text), c.want)
	}
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

// extra makes the cells of columns that only this log has.
func extraCells(cells ...any) string {
	b := make([]byte, 0, 64)
	for i, cell := range cells {
		if i > 0 {
			b = append(b, '\t')
		}
		switch v := cell.(type) {
		case []byte:
			b = append(b, v...)
		case time.Duration:
			b = strconv.AppendInt(b, int64(v), 10)
		case int:
			b = strconv.AppendInt(b, int64(v), 10)
		case string:
			b = append(b, v...)
		}
	}
	return string(b)
}

// isNumber reports whether a cell begins as a number does.
func isNumber(cell []byte) bool {
	_, ok := scanDecimal(cell)
	return ok
}

func allNumbers(cells ...[]byte) bool {
	return !slices.ContainsFunc(cells, func(c []byte) bool { return !isNumber(c) })
}
