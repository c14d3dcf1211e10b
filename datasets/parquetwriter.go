package datasets

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// The keys of a Parquet file's metadata that hold what the native form has before its rows,
// and what it has behind them. The fields stand there a second time, each for itself, for
// whoever looks with another tool.
const (
	parquetHead = "tickmark-header"
	parquetTail = "tickmark-trailer"
)

// rowsInGroup is how many rows are kept, encoded, until they are written: of a round trip
// some 5 to 15 bytes each, so a writer needs about 10 MB. rowsInBatch of them are kept as
// they came.
// Words whose dictionary would be larger than largestDictionary stand as they are.
const (
	rowsInGroup       = 1 << 19
	rowsInBatch       = 1 << 10
	largestDictionary = 1 << 20
)

// ParquetWriter records a trace as Parquet. Unlike native text, nothing of it can be read
// before Close.
type ParquetWriter struct {
	out     *parquet.GenericWriter[any]
	kind    Kind
	columns []columnWriter
	extra   []string
	bound   Row
	batch   int   // rows of the batch
	rows    int64 //
}

// NewParquetWriter begins a trace with this header, whose kind must have rows.
func NewParquetWriter(w io.Writer, h *Header) (*ParquetWriter, error) {
	var head bytes.Buffer
	if _, err := NewWriter(&head, h); err != nil {
		return nil, err
	}
	row, _ := NewRow(h.Kind()) // NewWriter has one
	columns, err := parquetColumns(row, h.Extra)
	if err != nil {
		return nil, err
	}
	p := &ParquetWriter{kind: h.Kind(), extra: h.Extra}
	p.out = parquet.NewGenericWriter[any](w, parquetSchema(columns), parquet.MaxRowsPerRowGroup(rowsInGroup),
		parquet.DataPageStatistics(true), parquet.DictionaryMaxBytes(largestDictionary), parquet.CreatedBy("tickmark", "1", ""))
	p.note(h.Fields(), parquetHead, head.String())
	for i, out := range p.out.ColumnWriters() {
		p.columns = append(p.columns, columnWriter{parquetColumn: columns[i], out: out, index: i, may: columns[i].optional()})
	}
	return p, nil
}

// note puts fields into the metadata, and text under a key that is none of theirs.
func (p *ParquetWriter) note(fields []Field, key, text string) {
	for _, f := range fields {
		if f.Key != parquetHead && f.Key != parquetTail {
			p.out.SetKeyValueMetadata(f.Key, strings.ToValidUTF8(f.Value, "\uFFFD"))
		}
	}
	p.out.SetKeyValueMetadata(key, text)
}

// Write adds one row.
func (p *ParquetWriter) Write(row Row) error {
	if row.Kind() != p.kind {
		return fmt.Errorf("parquet: a row of kind %q in a trace of kind %q", row.Kind(), p.kind)
	}
	if row != p.bound {
		p.bind(row)
	}
	if len(p.extra) > 0 {
		own := p.columns[len(p.columns)-len(p.extra):]
		for i, cell := range extraOf(row, p.extra) {
			*own[i].field.(rawField).at = cell
		}
	}
	for i := range p.columns {
		p.columns[i].add()
	}
	p.rows++
	if p.batch++; p.batch < rowsInBatch {
		return nil
	}
	return p.writeBatch()
}

func (p *ParquetWriter) bind(row Row) {
	fields := row.fields()
	for i := range p.columns {
		p.columns[i].bind(fields)
	}
	p.bound = row
}

func (p *ParquetWriter) writeBatch() error {
	p.batch = 0
	for i := range p.columns {
		c := &p.columns[i]
		if _, err := c.out.WriteRowValues(c.values); err != nil {
			return err
		}
		c.values = c.values[:0]
	}
	if p.rows%rowsInGroup == 0 {
		return p.out.Flush()
	}
	return nil
}

// Rows returns how many rows were written.
func (p *ParquetWriter) Rows() int64 { return p.rows }

// Flush does nothing: what is not whole cannot be read.
func (p *ParquetWriter) Flush() error { return nil }

// Close ends the file, with what only the end of the recording can tell.
func (p *ParquetWriter) Close(trailer ...Field) error {
	if err := p.writeBatch(); err != nil {
		return err
	}
	var tail strings.Builder
	for _, f := range trailer {
		tail.WriteString("# " + fieldLine(f) + "\n")
	}
	p.note(trailer, parquetTail, tail.String())
	return p.out.Close()
}

// columnWriter gathers the values of one column.
type columnWriter struct {
	parquetColumn
	out    *parquet.ColumnWriter
	index  int
	may    bool // be absent
	whole  wholeField
	real   realField
	word   wordField
	values []parquet.Value
	text   string        // the latest
	value  parquet.Value // of it
}

func (c *columnWriter) bind(fields []any) {
	switch f := c.in(fields).(type) {
	case wholeField:
		c.whole = f
	case realField:
		c.real = f
	case wordField:
		c.word = f
	}
}

// add takes the value of the row that the column is bound to.
func (c *columnWriter) add() {
	switch {
	case c.whole != nil:
		n, ok := c.whole.get()
		c.put(parquet.Int64Value(n), ok)
	case c.word != nil:
		c.putText()
	default:
		x, ok := c.real.at.Value()
		c.put(parquet.DoubleValue(x), ok)
	}
}

// put adds a value. Only one that might be absent has to say that it is there.
func (c *columnWriter) put(v parquet.Value, ok bool) {
	switch {
	case !ok:
		v = parquet.NullValue()
	case c.may:
		v = v.Level(0, 1, c.index)
	}
	c.values = append(c.values, v)
}

// putText adds the latest text again, if it is the same, which most are.
func (c *columnWriter) putText() {
	text := c.word.get()
	_, raw := c.word.(rawField)
	if text == "" && !raw || text == "-" && raw {
		c.put(parquet.Value{}, false)
		return
	}
	if text != c.text || c.value.IsNull() {
		c.text = text
		if !raw {
			text = quoted(text)
		}
		c.value = parquet.ByteArrayValue([]byte(text))
	}
	c.put(c.value, true)
}

// parquetExport is the form of a file.
type parquetExport struct{}

func (parquetExport) Loses() string { return "" }

func (parquetExport) Begin(w io.Writer, h *Header) (Encoder, error) { return NewParquetWriter(w, h) }
