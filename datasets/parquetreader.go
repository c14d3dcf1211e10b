package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// parquetMagic begins and ends a Parquet file.
const parquetMagic = "PAR1"

// RandomFile is a file that can be read from anywhere, as Parquet must be: what it holds
// stands at its end.
type RandomFile interface {
	io.Reader
	io.ReaderAt
	Size() int64
}

// Parquet is a trace being read from a Parquet file, a row group at a time.
type Parquet struct {
	name    string
	file    *parquet.File
	header  *Header
	trailer []Field
	columns []parquetColumn
	group   int // the next one
	open    []*parquetCursor
	left    int64 // rows of the open one
	skipped int64 // rows of groups that were passed over
	from    Instant
	to      Instant
	bad     badLines
	rows    int64
	cells   [][]byte // of a row, by its columns
	err     error
}

// OpenParquet reads the end of the file. The name is for errors.
func OpenParquet(name string, r io.ReaderAt, size int64) (p *Parquet, err error) {
	defer func() { // the library trusts what it reads
		if broken := recover(); broken != nil {
			p, err = nil, fmt.Errorf("%s: parquet: broken file: %v", name, broken)
		}
	}()
	f, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s: parquet: %w", name, plainParquet(err))
	}
	p = &Parquet{name: name, file: f, header: &Header{}, from: math.MinInt64, to: math.MaxInt64}
	return p, p.readHeader()
}

// plainParquet leaves the library's long words out.
func plainParquet(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(text)
}

func (p *Parquet) readHeader() error {
	text, ok := p.file.Lookup(parquetHeader)
	if !ok {
		return fmt.Errorf("%s: parquet: no tickmark trace: its metadata has no %q (another tool's columns: export them as CSV, and name them)", p.name, parquetHeader)
	}
	fields, err := fieldsOf(text)
	if err != nil {
		return fmt.Errorf("%s: parquet: %s: %w", p.name, parquetHeader, err)
	}
	for _, f := range fields {
		p.header.Set(f.Key, f.Value)
	}
	if text, ok := p.file.Lookup(parquetTrailer); ok {
		if p.trailer, err = fieldsOf(text); err != nil {
			return fmt.Errorf("%s: parquet: %s: %w", p.name, parquetTrailer, err)
		}
	}
	if text, ok := p.file.Lookup(parquetExtra); ok {
		if err := json.Unmarshal([]byte(text), &p.header.Extra); err != nil {
			return fmt.Errorf("%s: parquet: %s: %w", p.name, parquetExtra, err)
		}
	}
	if p.columns, err = parquetColumns(p.header); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	row, _ := NewRow(p.header.Kind()) // its kind has columns
	p.cells = make([][]byte, len(row.columns())+len(p.header.Extra))
	return p.checkSchema()
}

func fieldsOf(text string) ([]Field, error) {
	var pairs [][2]string
	if err := json.Unmarshal([]byte(text), &pairs); err != nil {
		return nil, errors.New("want a list of keys and values")
	}
	var fields []Field
	for _, pair := range pairs {
		if !validKey(pair[0]) {
			return nil, fmt.Errorf("key %s: want lower-case letters, digits, - and _", clip([]byte(pair[0])))
		}
		fields = append(fields, Field{pair[0], pair[1]})
	}
	return fields, nil
}

// checkSchema holds the columns of the file to those that its header promises.
func (p *Parquet) checkSchema() error {
	schema := p.file.Schema()
	for i := range p.columns {
		c := &p.columns[i]
		leaf, ok := schema.Lookup(c.name)
		if !ok {
			return fmt.Errorf("%s: parquet: column %q is missing", p.name, c.name)
		}
		want := parquet.Int64
		switch c.form {
		case textCell, rawCell:
			want = parquet.ByteArray
		case realCell:
			want = parquet.Double
		case numberCell, stampCell:
		}
		if kind := leaf.Node.Type().Kind(); kind != want || leaf.Node.Repeated() {
			return fmt.Errorf("%s: parquet: column %q is of type %v: want %v", p.name, c.name, kind, want)
		}
	}
	return nil
}

// Header returns the trace's header. What its end told is in it once Next has returned
// false.
func (p *Parquet) Header() *Header { return p.header }

// Between leaves out rows that are due before from, or at to and later: groups of rows
// that have no other are not read. It must be called before Next; a caller still gets
// some rows that lie outside.
func (p *Parquet) Between(from, to Instant) { p.from, p.to = from, to }

// Next reads one row, and false at the end or at an error.
func (p *Parquet) Next(row Row) (ok bool) {
	defer func() {
		if broken := recover(); broken != nil {
			p.err, ok = fmt.Errorf("%s: parquet: broken file: %v", p.name, broken), false
		}
	}()
	have, want := p.header.Kind(), row.Kind()
	if have != want && !(have == Exchanges && want == RTT) {
		p.err = fmt.Errorf("%s: holds rows of kind %q; want %q here", p.name, have, want)
	}
	for p.err == nil {
		if p.left == 0 && !p.nextGroup() {
			if p.err == nil {
				for _, f := range p.trailer {
					p.header.Set(f.Key, f.Value)
				}
			}
			return false
		}
		p.left--
		p.rows++
		if p.err = p.read(); p.err != nil {
			break
		}
		if err := p.parse(row); err != nil {
			p.bad.add(&SyntaxError{p.name, p.rows, err.Error()})
			continue
		}
		return true
	}
	return false
}

// nextGroup opens the columns of the next group of rows that may have one that is wanted.
func (p *Parquet) nextGroup() bool {
	p.closeGroup()
	groups := p.file.RowGroups()
	for p.group < len(groups) {
		g := groups[p.group]
		p.group++
		if p.outside(g) {
			p.skipped += g.NumRows()
			continue
		}
		if p.left = g.NumRows(); p.left <= 0 {
			continue
		}
		chunks := g.ColumnChunks()
		for i := range p.columns {
			leaf, _ := p.file.Schema().Lookup(p.columns[i].name) // it was there
			p.open = append(p.open, &parquetCursor{pages: chunks[leaf.ColumnIndex].Pages(), column: &p.columns[i]})
		}
		return true
	}
	return false
}

func (p *Parquet) closeGroup() {
	for _, c := range p.open {
		if err := c.pages.Close(); err != nil && p.err == nil {
			p.err = fmt.Errorf("%s: parquet: %w", p.name, plainParquet(err))
		}
	}
	p.open = p.open[:0]
}

// outside reports whether the statistics of a group say that all of it lies outside the
// wanted time.
func (p *Parquet) outside(g parquet.RowGroup) bool {
	i := slices.IndexFunc(p.columns, func(c parquetColumn) bool { return c.name == "due" || c.name == "at" })
	if i < 0 || p.from == math.MinInt64 && p.to == math.MaxInt64 {
		return false
	}
	leaf, _ := p.file.Schema().Lookup(p.columns[i].name)
	index, err := g.ColumnChunks()[leaf.ColumnIndex].ColumnIndex()
	if err != nil || index.NumPages() == 0 {
		return false
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for page := range index.NumPages() {
		least, most = min(least, index.MinValue(page).Int64()), max(most, index.MaxValue(page).Int64())
	}
	return Instant(most) < p.from || Instant(least) >= p.to
}

// read takes a value of each column.
func (p *Parquet) read() error {
	for _, c := range p.open {
		v, err := c.next()
		if err != nil {
			return fmt.Errorf("%s: parquet: row %d, column %q: %w", p.name, p.rows, c.column.name, plainParquet(err))
		}
		if c.column.source {
			continue // behind its stamp
		}
		p.cells[c.column.of] = c.column.cell(p.cells[c.column.of][:0], v)
	}
	for _, c := range p.open {
		if cell := p.cells[c.column.of]; c.column.source && !isAbsent(cell) {
			source := byte('u')
			if b := c.value().ByteArray(); len(b) > 0 {
				source = b[0]
			}
			p.cells[c.column.of] = append(cell, source)
		}
	}
	return nil
}

// cell writes a value as the native form has it.
func (c *parquetColumn) cell(dst []byte, v parquet.Value) []byte {
	switch {
	case v.IsNull():
		return append(dst, '-')
	case c.form == rawCell:
		return append(dst, v.ByteArray()...)
	case c.form == textCell:
		return appendText(dst, string(v.ByteArray()))
	case c.form == realCell:
		return strconv.AppendFloat(dst, v.Double(), 'g', -1, 64)
	}
	return strconv.AppendInt(dst, v.Int64(), 10)
}

func (p *Parquet) parse(row Row) error {
	row.reset()
	columns := row.columns()
	for i, name := range columns {
		if err := row.parse(i, p.cells[i]); err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
	}
	if extra := p.cells[len(p.cells)-len(p.header.Extra):]; len(extra) > 0 {
		texts := make([]string, len(extra))
		for i, cell := range extra {
			texts[i] = string(cell)
		}
		*row.extra() = strings.Join(texts, "\t")
	}
	return row.check()
}

// Err returns what ended the reading early, or nil.
func (p *Parquet) Err() error { return p.err }

// Warnings returns what a user must know of the file.
func (p *Parquet) Warnings() []string {
	var warnings []string
	if p.bad.count > 0 {
		warnings = []string{fmt.Sprintf("%s: %d rows are none that a measurement gives, and left out: row %d: %s", p.name, p.bad.count, p.bad.first[0].Line, p.bad.first[0].Msg)}
	}
	if w := p.header.Text(KeyImportWarnings); w != "" {
		warnings = append(warnings, p.name+": "+imported+w)
	}
	return warnings
}

// parquetCursor goes through one column of a group.
type parquetCursor struct {
	column *parquetColumn
	pages  parquet.Pages
	values parquet.ValueReader
	buffer [512]parquet.Value
	n, at  int
}

func (c *parquetCursor) value() parquet.Value { return c.buffer[c.at-1] }

func (c *parquetCursor) next() (parquet.Value, error) {
	for c.at == c.n {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			c.values = page.Values()
		}
		n, err := c.values.ReadValues(c.buffer[:])
		c.n, c.at = n, 0
		if errors.Is(err, io.EOF) {
			c.values = nil
		} else if err != nil {
			return parquet.Value{}, err
		}
	}
	c.at++
	return c.value(), nil
}
