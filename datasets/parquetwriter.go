package datasets

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// The keys of a Parquet file's metadata that hold the header of a trace: its fields in their
// order, those that its end told, and the columns of its own. The fields stand there a
// second time, each for itself, for whoever looks with another tool.
const (
	parquetHeader  = "tickmark-header"
	parquetTrailer = "tickmark-trailer"
	parquetExtra   = "tickmark-columns"
)

// rowsInGroup is how many rows are kept until they are written: of a round trip some 100
// bytes each.
const rowsInGroup = 1 << 19

// ParquetWriter records a trace as Parquet. Unlike native text, nothing of it can be read
// before Close.
type ParquetWriter struct {
	out     *parquet.GenericWriter[any]
	kind    Kind
	columns []parquetColumn
	extra   []string
	row     parquet.Row
	cell    []byte
	rows    int64
}

// NewParquetWriter begins a trace with this header, whose kind must have rows.
func NewParquetWriter(w io.Writer, h *Header) (*ParquetWriter, error) {
	columns, err := parquetColumns(h)
	if err != nil {
		return nil, err
	}
	p := &ParquetWriter{kind: h.Kind(), columns: columns, extra: h.Extra, row: make(parquet.Row, len(columns))}
	options := []parquet.WriterOption{
		parquetSchema(columns), parquet.MaxRowsPerRowGroup(rowsInGroup), parquet.DataPageStatistics(true), parquet.CreatedBy("tickmark", "1", ""),
		parquet.KeyValueMetadata(parquetHeader, fieldsText(h.Fields())), parquet.KeyValueMetadata(parquetExtra, jsonOf(h.Extra)),
	}
	for _, f := range h.Fields() {
		options = append(options, parquet.KeyValueMetadata(f.Key, f.Value))
	}
	p.out = parquet.NewGenericWriter[any](w, options...)
	return p, nil
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v) // text can be written
	return string(b)
}

func fieldsText(fields []Field) string {
	pairs := [][2]string{}
	for _, f := range fields {
		pairs = append(pairs, [2]string{f.Key, f.Value})
	}
	return jsonOf(pairs)
}

// Write adds one row.
func (p *ParquetWriter) Write(row Row) error {
	if row.Kind() != p.kind {
		return fmt.Errorf("parquet: a row of kind %q in a trace of kind %q", row.Kind(), p.kind)
	}
	var extra []string
	if len(p.extra) > 0 {
		extra = extraOf(row, p.extra)
	}
	known := len(row.columns())
	for i := range p.columns {
		c := &p.columns[i]
		if c.of < known {
			p.cell = row.append(p.cell[:0], c.of)
		} else {
			p.cell = append(p.cell[:0], extra[c.of-known]...)
		}
		v, err := c.value(p.cell)
		if err != nil {
			return err
		}
		level := 0
		if c.optional && !v.IsNull() {
			level = 1
		}
		p.row[i] = v.Level(0, level, i)
	}
	p.rows++
	_, err := p.out.WriteRows([]parquet.Row{p.row})
	return err
}

// value is a cell of the native form as a value of the column.
func (c *parquetColumn) value(cell []byte) (parquet.Value, error) {
	if isAbsent(cell) {
		return parquet.NullValue(), nil
	}
	switch {
	case c.form == rawCell:
		return parquet.ByteArrayValue(slices.Clone(cell)), nil
	case c.source:
		return parquet.ByteArrayValue([]byte(sourceNameOf(cell[len(cell)-1]))), nil
	case c.form == textCell:
		text, _ := cellText(cell)
		return parquet.ByteArrayValue([]byte(text)), nil
	case c.form == realCell:
		v, err := strconv.ParseFloat(string(cell), 64)
		return parquet.DoubleValue(v), err
	case c.form == stampCell:
		cell = cell[:len(cell)-1]
	}
	var n int64
	err := parseInt(&n, cell)
	return parquet.Int64Value(n), err
}

func sourceNameOf(letter byte) string {
	for _, name := range sourceNames() {
		if name[0] == letter {
			return name
		}
	}
	return strings.ToLower(string(letter))
}

// Rows returns how many rows were written.
func (p *ParquetWriter) Rows() int64 { return p.rows }

// Flush does nothing: what is not whole cannot be read.
func (p *ParquetWriter) Flush() error { return nil }

// Close ends the file, with what only the end of the recording can tell.
func (p *ParquetWriter) Close(trailer ...Field) error {
	p.out.SetKeyValueMetadata(parquetTrailer, fieldsText(trailer))
	for _, f := range trailer {
		p.out.SetKeyValueMetadata(f.Key, f.Value)
	}
	return p.out.Close()
}

// parquetExport is the form of a file.
type parquetExport struct{}

func (parquetExport) Loses() string { return "" }

func (parquetExport) Begin(w io.Writer, h *Header) (Encoder, error) { return NewParquetWriter(w, h) }
