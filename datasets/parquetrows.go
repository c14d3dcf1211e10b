package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parquetRows puts rows together from the columns that are read.
type parquetRows struct {
	wholes []rowColumn[int64, wholeField]
	reals  []rowColumn[float64, realField]
	words  []rowColumn[int32, wordField]
	extra  []string // cells of the trace's own columns
	bound  Row      // whose fields the columns fill
	at, n  int      // the next row of the batch, and how many there are
	trips  *parquetTrips
}

// rowColumn is one of them, and where in the row its values go.
type rowColumn[T, F any] struct {
	parquetColumn
	cursor  pageCursor[T]
	index   int // of the file's column
	field   F
	values  []T // of the batch
	present []bool
	lexicon *lexicon // of words
}

// planFor chooses the columns that are read for rows such as this one.
func (p *Parquet) planFor(row Row) (*parquetRows, error) {
	have, want := p.Header().Kind(), row.Kind()
	if have != want && !(have == Exchanges && want == RTT) {
		return nil, fmt.Errorf("%s: holds rows of kind %q; want %q here", p.name, have, want)
	}
	columns, err := parquetColumns(row, p.Header().Extra)
	if err != nil {
		return nil, err
	}
	plan := &parquetRows{extra: make([]string, len(p.Header().Extra))}
	for _, c := range columns {
		leaf, ok := p.leaf(c.name)
		if !ok || !p.wants(strings.TrimSuffix(c.name, sourceSuffix)) {
			continue
		}
		if own := c.of - len(row.columns()); own >= 0 {
			c.field = rawField{&plan.extra[own]}
		}
		plan.add(c, leaf.ColumnIndex)
	}
	plan.trips = newParquetTrips(row, plan)
	return plan, nil
}

// wants reports whether a column is read.
func (p *Parquet) wants(name string) bool {
	if kind := p.Header().Kind(); len(p.only) == 0 || kind != RTT && kind != Exchanges {
		return true
	}
	return slices.Contains(p.only, name) || slices.Contains([]string{"attempt", "due", "sent", "elapsed", "outcome"}, name)
}

func (r *parquetRows) add(c parquetColumn, index int) {
	switch c.field.(type) {
	case wholeField:
		r.wholes = append(r.wholes, rowColumn[int64, wholeField]{parquetColumn: c, index: index, cursor: pageCursor[int64]{load: wholesOf}})
	case realField:
		r.reals = append(r.reals, rowColumn[float64, realField]{parquetColumn: c, index: index, cursor: pageCursor[float64]{load: realsOf}})
	case wordField:
		_, raw := c.field.(rawField)
		l := &lexicon{raw: raw}
		r.words = append(r.words, rowColumn[int32, wordField]{parquetColumn: c, index: index, lexicon: l, cursor: pageCursor[int32]{load: l.indicesOf}})
	}
}

// open begins another group of rows.
func (r *parquetRows) open(p *Parquet, group int) error {
	return errors.Join(openAll(r.wholes, p, group), openAll(r.reals, p, group), openAll(r.words, p, group))
}

func openAll[T, F any](columns []rowColumn[T, F], p *Parquet, group int) error {
	for i := range columns {
		c := &columns[i]
		pages, err := p.pagesOf(group, c.index)
		if err == nil {
			err = c.cursor.open(pages)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", c.name, err)
		}
	}
	return nil
}

func (r *parquetRows) close() error {
	return errors.Join(closeAll(r.wholes), closeAll(r.reals), closeAll(r.words))
}

func closeAll[T, F any](columns []rowColumn[T, F]) (err error) {
	for i := range columns {
		err = errors.Join(err, columns[i].cursor.close())
	}
	return err
}

func (r *parquetRows) ready() bool { return r.at < r.n }

// fill makes a batch of at most so many rows of what the columns' pages have.
func (r *parquetRows) fill(most int64) (n int, err error) {
	n = int(min(most, maxBatch))
	r.at, r.n = 0, 0
	if n, err = fillAll(r.wholes, n, err); err == nil {
		n, err = fillAll(r.reals, n, err)
	}
	if n, err = fillAll(r.words, n, err); err != nil {
		return 0, err
	}
	takeAll(r.wholes, n)
	takeAll(r.reals, n)
	takeAll(r.words, n)
	r.n = n
	if r.trips != nil {
		r.trips.take(r, n)
	}
	return n, nil
}

func fillAll[T, F any](columns []rowColumn[T, F], n int, err error) (int, error) {
	for i := range columns {
		if err != nil {
			return 0, err
		}
		var have int
		if have, err = columns[i].cursor.fill(); err != nil {
			return 0, fmt.Errorf("column %q: %w", columns[i].name, err)
		}
		n = min(n, have)
	}
	return n, err
}

func takeAll[T, F any](columns []rowColumn[T, F], n int) {
	for i := range columns {
		columns[i].values, columns[i].present = columns[i].cursor.take(n)
	}
}

// bind makes the columns fill this row.
func (r *parquetRows) bind(row Row) {
	fields := row.fields()
	bindAll(r.wholes, fields)
	bindAll(r.reals, fields)
	bindAll(r.words, fields)
	r.bound = row
}

func bindAll[T, F any](columns []rowColumn[T, F], fields []any) {
	for i := range columns {
		columns[i].field = columns[i].in(fields).(F)
	}
}

// read puts the next row of the batch together.
func (r *parquetRows) read(row Row) error {
	at := r.at
	r.at++
	if r.readTrip(row, at) {
		return nil
	}
	if row != r.bound {
		r.bind(row)
	}
	row.reset()
	if err := r.readWholes(at); err != nil {
		return err
	}
	for i := range r.reals {
		c := &r.reals[i]
		if there(c.present, at) && !c.field.set(c.values[at]) {
			return fmt.Errorf(`%s "%v": want a number`, c.name, c.values[at])
		}
	}
	if err := r.readWords(at); err != nil {
		return err
	}
	if len(r.extra) > 0 {
		*row.extra() = strings.Join(r.extra, "\t")
	}
	return row.check()
}

func (r *parquetRows) readTrip(row Row, at int) bool {
	s, ok := row.(*Sample)
	return ok && r.trips != nil && r.trips.read(s, at) && s.check() == nil
}

func (r *parquetRows) readWholes(at int) error {
	for i := range r.wholes {
		switch c := &r.wholes[i]; {
		case !there(c.present, at):
			if !c.field.miss() {
				return fmt.Errorf("%s is absent", c.name)
			}
		case !c.field.set(c.values[at]):
			return fmt.Errorf(`%s "%d": no such number is possible`, c.name, c.values[at])
		}
	}
	return nil
}

func (r *parquetRows) readWords(at int) error {
	for i := range r.extra {
		r.extra[i] = "-"
	}
	for i := range r.words {
		c := &r.words[i]
		if !there(c.present, at) {
			if c.field.must() {
				return fmt.Errorf("%s is absent", c.name)
			}
			continue
		}
		if err := c.field.set(c.lexicon.words[c.values[at]]); err != nil {
			return fmt.Errorf("%s %w", c.name, err)
		}
	}
	return nil
}
