package datasets

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Version is the native format's version that Writer writes. Readers accept
// every version up to it, for ever.
const Version = 1

const magic = "tickmark-trace "

// Writer records a trace as native text. Write buffers; what has been flushed
// survives the death of the process.
type Writer struct {
	under   io.Writer
	w       *bufio.Writer
	kind    Kind
	columns int
	extra   int
	line    []byte
	rows    int64
}

// NewWriter writes the header h, whose kind must have rows, and returns a Writer
// of its rows. The header is flushed at once.
func NewWriter(w io.Writer, h *Header) (*Writer, error) {
	row, ok := NewRow(h.Kind())
	if !ok {
		return nil, fmt.Errorf("trace: kind %q has no rows that this version can write", h.Kind())
	}
	tw := &Writer{
		under: w, w: bufio.NewWriterSize(w, 64<<10),
		kind: h.Kind(), columns: len(row.columns()), extra: len(h.Extra),
	}
	fmt.Fprintf(tw.w, "%s%d\n", magic, Version)
	for _, f := range h.Fields() {
		if !validKey(f.Key) {
			return nil, fmt.Errorf("trace: header key %q: want lower-case letters, digits, - and _", f.Key)
		}
		tw.w.WriteString(fieldLine(f) + "\n")
	}
	tw.w.WriteString(strings.Join(append(row.columns(), h.Extra...), "\t") + "\n")
	return tw, tw.Flush()
}

// Write adds one row. It may stay in memory until Flush.
func (w *Writer) Write(row Row) error {
	if row.Kind() != w.kind {
		return fmt.Errorf("trace: a row of kind %q in a trace of kind %q", row.Kind(), w.kind)
	}
	line := w.line[:0]
	for column := range w.columns {
		if column > 0 {
			line = append(line, '\t')
		}
		line = row.append(line, column)
	}
	if w.extra > 0 {
		line = append(append(line, '\t'), w.extraCells(*row.extra())...)
	}
	w.line = append(line, '\n')
	w.rows++
	_, err := w.w.Write(w.line)
	return err
}

// extraCells returns the row's own cells of the extra columns, or absent ones.
func (w *Writer) extraCells(cells string) string {
	if cells == "" && w.extra > 1 {
		return strings.Repeat("-\t", w.extra-1) + "-"
	}
	return cells
}

// Rows returns how many rows were written.
func (w *Writer) Rows() int64 { return w.rows }

// Flush hands everything written to the operating system.
func (w *Writer) Flush() error {
	if err := w.w.Flush(); err != nil {
		return err
	}
	if f, ok := w.under.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}

// Close ends the recording with what only its end can tell, such as the rate
// reached, and flushes. It does not close the writer below.
func (w *Writer) Close(trailer ...Field) error {
	for _, f := range trailer {
		w.w.WriteString("# " + fieldLine(f) + "\n")
	}
	fmt.Fprintf(w.w, "# end: %d\n", w.rows)
	return w.Flush()
}
