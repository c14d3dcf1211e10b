package datasets

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// Ints reads some of a trace's columns of whole numbers, and nothing else of the file, a
// batch at a time: each call of take has as many values of each column, which it must not
// keep. A value that is absent is none: present says for each column which are there, and
// is nil where all are. Batches are some ten thousand values long.
func (p *Parquet) Ints(columns []string, take func(values [][]int64, present [][]bool) error) (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%s: parquet: broken file: %v", p.name, broken)
		}
	}()
	indices, err := p.intColumns(columns)
	if err != nil {
		return err
	}
	for _, g := range p.file.RowGroups() {
		if p.outside(g) {
			continue
		}
		if err := p.groupInts(g, indices, take); err != nil {
			return fmt.Errorf("%s: parquet: %w", p.name, err)
		}
	}
	return nil
}

func (p *Parquet) intColumns(names []string) (indices []int, err error) {
	for _, name := range names {
		leaf, ok := p.file.Schema().Lookup(name)
		if !ok || leaf.Node.Type().Kind() != parquet.Int64 {
			return nil, fmt.Errorf("%s: parquet: no column %q of whole numbers", p.name, name)
		}
		indices = append(indices, leaf.ColumnIndex)
	}
	return indices, nil
}

// groupInts goes through the pages of a group; those of two columns need not end at the
// same row.
func (p *Parquet) groupInts(g parquet.RowGroup, indices []int, take func([][]int64, [][]bool) error) (err error) {
	chunks := g.ColumnChunks()
	cursors := make([]*intCursor, len(indices))
	for i, index := range indices {
		cursors[i] = &intCursor{pages: chunks[index].Pages()}
		defer func() { err = errors.Join(err, cursors[i].close()) }()
	}
	values, present := make([][]int64, len(indices)), make([][]bool, len(indices))
	for left := g.NumRows(); left > 0; {
		n := int(left)
		for _, c := range cursors {
			if err := c.fill(); err != nil {
				return err
			}
			n = min(n, len(c.values))
		}
		for i, c := range cursors {
			values[i], present[i] = c.values[:n], nil
			c.values = c.values[n:]
			if c.present != nil {
				present[i], c.present = c.present[:n], c.present[n:]
			}
		}
		if err := take(values, present); err != nil {
			return err
		}
		left -= int64(n)
	}
	return nil
}

// intCursor is a page of one column.
type intCursor struct {
	pages   parquet.Pages
	page    parquet.Page
	values  []int64
	present []bool // nil: all are
	spread  []int64
	room    []bool
}

func (c *intCursor) close() error {
	parquet.Release(c.page)
	return c.pages.Close()
}

// fill reads the next page, if nothing is left of this one.
func (c *intCursor) fill() error {
	for len(c.values) == 0 {
		parquet.Release(c.page)
		page, err := c.pages.ReadPage()
		if err != nil {
			c.page = nil
			if errors.Is(err, io.EOF) {
				return errors.New("a column ends before the others")
			}
			return plainParquet(err)
		}
		c.page, c.present = page, nil
		if page.Dictionary() != nil {
			return errors.New("whole numbers from a dictionary, which tickmark does not write")
		}
		data := page.Data()
		c.values = data.Int64()
		if page.NumNulls() > 0 {
			c.fan(page.DefinitionLevels())
		}
	}
	return nil
}

// fan puts the values that are there into the places of those that may be.
func (c *intCursor) fan(levels []byte) {
	if cap(c.spread) < len(levels) {
		c.spread, c.room = make([]int64, len(levels)), make([]bool, len(levels))
	}
	spread, present := c.spread[:len(levels)], c.room[:len(levels)]
	dense := c.values
	at := 0
	for i, level := range levels {
		present[i] = level > 0
		if level > 0 {
			spread[i] = dense[at]
			at++
		} else {
			spread[i] = 0
		}
	}
	c.values, c.present = spread, present
}
