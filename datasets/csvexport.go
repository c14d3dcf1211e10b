package datasets

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// csvExport writes a line a row (RFC 4180) with the header as comments in front, which
// pandas reads with comment="#" and DuckDB with comment='#'.
type csvExport struct{}

func (csvExport) Loses() string { return "" }

func (csvExport) Begin(w io.Writer, h *Header) (Encoder, error) {
	row, ok := NewRow(h.Kind())
	if !ok {
		return nil, fmt.Errorf("csv: kind %q has no rows", h.Kind())
	}
	c := &csvEncoder{w: bufio.NewWriterSize(w, maxLine), columns: len(row.columns()), extra: h.Extra}
	for _, f := range h.Fields() {
		fmt.Fprintf(c.w, "# %s\n", fieldLine(f))
	}
	var names []string
	for _, name := range append(row.columns(), h.Extra...) {
		names = append(names, csvCell(name))
	}
	_, err := c.w.WriteString(strings.Join(names, ",") + "\n")
	return c, err
}

type csvEncoder struct {
	w       *bufio.Writer
	columns int
	extra   []string
	cell    []byte
}

func (c *csvEncoder) Write(row Row) error {
	for column := range c.columns {
		if column > 0 {
			c.w.WriteByte(',')
		}
		c.cell = row.append(c.cell[:0], column)
		c.put(c.cell)
	}
	for _, cell := range extraOf(row, c.extra) {
		c.w.WriteByte(',')
		c.put([]byte(cell))
	}
	return c.w.WriteByte('\n')
}

// put writes a cell of the native form; one that is absent is empty.
func (c *csvEncoder) put(cell []byte) {
	if len(cell) > 0 && (cell[0] == '"' || cell[0] > '9') {
		text, _ := cellText(cell)
		c.w.WriteString(csvCell(text))
		return
	}
	if !isAbsent(cell) {
		c.w.WriteString(csvCell(string(cell)))
	}
}

func csvCell(text string) string {
	if strings.ContainsAny(text, ",\"\r\n#") || strings.TrimSpace(text) != text {
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return text
}

func (c *csvEncoder) Close(trailer ...Field) error {
	for _, f := range trailer {
		fmt.Fprintf(c.w, "# %s\n", fieldLine(f))
	}
	return c.w.Flush()
}
