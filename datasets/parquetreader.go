package datasets

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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

// Selective is a stream that can leave out what nobody asks for. Both methods must be
// called before Next.
type Selective interface {
	Stream
	// Only names the columns that will be looked at. The others need not be read; a row
	// has then nothing there.
	Only(columns ...string)
	// Between leaves out rows that are before from, or at to and later, where that is
	// cheap: some that lie outside may come all the same.
	Between(from, to Instant)
}

// Only names to a stream the columns that will be looked at, if it can make use of that.
func Only(s Stream, columns ...string) {
	if p, ok := s.(Selective); ok {
		p.Only(columns...)
	}
}

// Parquet is a trace being read from a Parquet file, a page of each column at a time.
type Parquet struct {
	name     string
	under    io.ReaderAt
	size     int64
	file     *parquet.File
	head     *Reader // of the header, in its native form
	only     []string
	from, to Instant
	plan     *parquetRows // what is read of a row; nil before the first Next
	group    int          // the next one
	left     int64        // rows of the open one
	rows     int64        // read, bad ones included
	bad      badLines
	err      error
}

// OpenParquet reads the end of the file. The name is for errors.
func OpenParquet(name string, r io.ReaderAt, size int64) (p *Parquet, err error) {
	p = &Parquet{name: name, under: r, size: size, from: math.MinInt64, to: math.MaxInt64}
	defer p.recovered(&err)
	if err := checkEnd(r, size); err != nil {
		return nil, fmt.Errorf("%s: parquet: %w", name, err)
	}
	p.file, err = parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, fmt.Errorf("%s: parquet: %w", name, plainParquet(err))
	}
	if err := p.readHead(); err != nil {
		return nil, err
	}
	return p, nil
}

// recovered makes an error of a panic of the library, which trusts what it reads.
func (p *Parquet) recovered(err *error) {
	if broken := recover(); broken != nil {
		*err = fmt.Errorf("%s: parquet: broken file: %w", p.name, plainParquet(fmt.Errorf("%v", broken)))
	}
}

// plainParquet leaves most of the library's long words out.
func plainParquet(err error) error {
	const most = 160
	text := strings.Map(func(r rune) rune {
		if notPlain(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(err.Error(), " "))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return errors.New(text)
}

func (p *Parquet) readHead() error {
	text, ok := p.file.Lookup(parquetHead)
	if !ok {
		return fmt.Errorf("%s: parquet: no tickmark trace: its metadata has no %q (another tool's columns: export them as CSV, and name them)", p.name, parquetHead)
	}
	var err error
	if p.head, err = NewReader(p.name+": "+parquetHead, strings.NewReader(text)); err != nil {
		return err
	}
	p.head.name = p.name
	return p.checkSchema()
}

// leaf returns a column that may have one value a row.
func (p *Parquet) leaf(name string) (parquet.LeafColumn, bool) {
	leaf, ok := p.file.Schema().Lookup(name)
	return leaf, ok && leaf.MaxRepetitionLevel == 0 && leaf.MaxDefinitionLevel <= 1
}

// checkSchema holds the columns of the file to those that its header promises.
func (p *Parquet) checkSchema() error {
	h := p.head.header
	row, _ := NewRow(h.Kind()) // its header was read
	columns, err := parquetColumns(row, h.Extra)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	for i := range columns {
		c := &columns[i]
		leaf, ok := p.leaf(c.name)
		if !ok {
			if c.of < len(row.columns()) && mayMiss(row.columns()[c.of]) {
				continue
			}
			return fmt.Errorf("%s: parquet: column %q is missing, or no plain one", p.name, c.name)
		}
		if kind, want := leaf.Node.Type().Kind(), c.node().Type().Kind(); kind != want {
			return fmt.Errorf("%s: parquet: column %q is of type %v: want %v", p.name, c.name, kind, want)
		}
	}
	return nil
}

// Header returns the trace's header. What its end told is in it once Next has returned
// false.
func (p *Parquet) Header() *Header { return p.head.header }

// Between passes over groups of rows whose statistics say that all of them lie outside.
func (p *Parquet) Between(from, to Instant) { p.from, p.to = from, to }

// Only leaves the other columns of round trips unread, but for those that a row is judged
// by.
func (p *Parquet) Only(columns ...string) { p.only = columns }

// Next reads one row, and false at the end or at an error.
func (p *Parquet) Next(row Row) (ok bool) {
	if p.plan == nil && p.err == nil {
		p.plan, p.err = p.planFor(row)
	}
	if p.err != nil {
		return false
	}
	if ok = p.next(row); !ok && p.err == nil {
		text, _ := p.file.Lookup(parquetTail)
		for line := range strings.Lines(text) {
			p.head.readTrailer([]byte(strings.TrimSuffix(line, "\n")))
		}
	}
	return ok
}

func (p *Parquet) next(row Row) (ok bool) {
	defer p.recovered(&p.err)
	for p.plan.ready() || p.more() {
		p.rows++
		err := p.plan.read(row)
		if err == nil {
			return true
		}
		p.bad.add(&SyntaxError{p.name, p.rows, err.Error()})
	}
	return false
}

// more decodes the next rows of the group, or of the next group that has wanted ones.
func (p *Parquet) more() bool {
	for p.left == 0 {
		groups := p.file.RowGroups()
		if p.group == len(groups) {
			p.err = p.plan.close()
			return false
		}
		group := p.group
		p.group++
		if p.outside(group) {
			continue
		}
		p.left = max(groups[group].NumRows(), 0)
		if err := p.plan.open(p, group); err != nil {
			p.err = fmt.Errorf("%s: parquet: behind row %d: %w", p.name, p.rows, err)
			return false
		}
	}
	n, err := p.plan.fill(p.left)
	if err != nil {
		p.err = fmt.Errorf("%s: parquet: behind row %d: %w", p.name, p.rows, err)
	}
	p.left -= int64(n)
	return err == nil
}

// outside reports whether the statistics of a group say that all of it lies outside the
// wanted time.
func (p *Parquet) outside(group int) bool {
	if p.from == math.MinInt64 && p.to == math.MaxInt64 {
		return false
	}
	least, most, ok := p.span(group)
	return ok && (most < p.from || least >= p.to)
}

// span returns the earliest and the latest time of the rows of a group, by its statistics.
func (p *Parquet) span(group int) (least, most Instant, ok bool) {
	leaf, ok := p.leaf("due")
	if !ok {
		leaf, ok = p.leaf("at")
	}
	if !ok {
		return 0, 0, false
	}
	chunk, ok := p.file.RowGroups()[group].ColumnChunks()[leaf.ColumnIndex].(*parquet.FileColumnChunk)
	if !ok {
		return 0, 0, false
	}
	from, to, ok := chunk.Bounds()
	return Instant(from.Int64()), Instant(to.Int64()), ok
}

// begins returns the earliest time of all rows, if the statistics tell it.
func (p *Parquet) begins() (least Instant, ok bool) {
	defer func() {
		if recover() != nil { // reading the rows says what is wrong with the file
			ok = false
		}
	}()
	least = math.MaxInt64
	for group := range p.file.RowGroups() {
		from, _, told := p.span(group)
		if !told {
			return 0, false
		}
		least = min(least, from)
	}
	return least, true
}

// Err returns what ended the reading early, or nil. A file in which no row is a
// measurement's is an error.
func (p *Parquet) Err() error {
	if p.err == nil && p.rows > 0 && p.rows == p.bad.count {
		return fmt.Errorf("%s: row %d: %s", p.name, p.bad.first[0].Line, p.bad.first[0].Msg)
	}
	return p.err
}

// Warnings returns what a user must know of the file.
func (p *Parquet) Warnings() []string {
	var warnings []string
	if p.bad.count > 0 {
		var places []string
		for _, b := range p.bad.first {
			places = append(places, fmt.Sprintf("row %d: %s", b.Line, b.Msg))
		}
		warnings = []string{fmt.Sprintf("%s: %s: %s", p.name, rowsAre(p.bad.count, "is no measurement's and is left out", "are no measurement's and are left out"), strings.Join(places, "; "))}
	}
	return slices.Concat(warnings, p.head.headerWarnings())
}
