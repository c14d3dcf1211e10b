package datasets

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// Ints reads some of a trace's columns of whole numbers, and nothing else of the file, a
// batch at a time: each call of take has as many values of each column, which it must not
// keep. Present says for each column which are there, and is nil where all are. Batches are
// some ten thousand values long.
func (p *Parquet) Ints(columns []string, take func(values [][]int64, present [][]bool) error) (err error) {
	defer p.recovered(&err)
	cursors := make([]pageCursor[int64], len(columns))
	indices := make([]int, len(columns))
	for i, name := range columns {
		leaf, ok := p.leaf(name)
		if !ok || leaf.Node.Type().Kind() != parquet.Int64 {
			return fmt.Errorf("%s: parquet: no column %q of whole numbers", p.name, name)
		}
		cursors[i].load, indices[i] = wholesOf, leaf.ColumnIndex
		defer func() { err = errors.Join(err, cursors[i].close()) }()
	}
	for group, g := range p.file.RowGroups() {
		if p.outside(group) {
			continue
		}
		for i := range cursors {
			pages, err := p.pagesOf(group, indices[i])
			if err == nil {
				err = cursors[i].open(pages)
			}
			if err != nil {
				return fmt.Errorf("%s: parquet: column %q: %w", p.name, columns[i], err)
			}
		}
		if err := groupInts(g.NumRows(), cursors, columns, take); err != nil {
			return fmt.Errorf("%s: parquet: %w", p.name, err)
		}
	}
	return nil
}

// groupInts goes through the pages of a group; those of two columns need not end at the
// same row.
func groupInts(rows int64, cursors []pageCursor[int64], names []string, take func([][]int64, [][]bool) error) error {
	values, present := make([][]int64, len(cursors)), make([][]bool, len(cursors))
	for rows > 0 {
		n := int(min(rows, maxBatch))
		for i := range cursors {
			have, err := cursors[i].fill()
			if err != nil {
				return fmt.Errorf("column %q: %w", names[i], err)
			}
			n = min(n, have)
		}
		for i := range cursors {
			values[i], present[i] = cursors[i].take(n)
		}
		if err := take(values, present); err != nil {
			return err
		}
		rows -= int64(n)
	}
	return nil
}

// maxBatch bounds a batch whatever the pages of a file are.
const maxBatch = 1 << 16
