package datasets

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// jsonExport writes an object a row. A stamp is two values, its nanoseconds and the source.
type jsonExport struct{}

func (jsonExport) Loses() string {
	return "the header is left out: every line is a row (csv, parquet and the native form keep it)"
}

func (jsonExport) Begin(w io.Writer, h *Header) (Encoder, error) {
	row, ok := NewRow(h.Kind())
	if !ok {
		return nil, fmt.Errorf("jsonl: kind %q has no rows", h.Kind())
	}
	j := &jsonEncoder{w: bufio.NewWriterSize(w, maxLine), extra: h.Extra}
	form := forms(row)
	for i, name := range row.columns() {
		j.columns = append(j.columns, jsonColumn{form[i], jsonText(name) + ":", jsonText(name+"_source") + ":"})
	}
	for _, name := range h.Extra {
		j.names = append(j.names, jsonText(name)+":")
	}
	return j, nil
}

type jsonEncoder struct {
	w       *bufio.Writer
	columns []jsonColumn
	extra   []string
	names   []string // of the extra ones
	cell    []byte
}

type jsonColumn struct {
	form         cellForm
	name, source string
}

func jsonText(s string) string {
	b, _ := json.Marshal(s) // text can be written
	return string(b)
}

func (j *jsonEncoder) Write(row Row) error {
	separator := byte('{')
	for i, c := range j.columns {
		j.w.WriteByte(separator)
		separator = ','
		j.cell = row.append(j.cell[:0], i)
		j.put(c, j.cell)
	}
	for i, cell := range extraOf(row, j.extra) {
		j.w.WriteByte(',')
		j.w.WriteString(j.names[i])
		j.text([]byte(cell))
	}
	_, err := j.w.WriteString("}\n")
	return err
}

func (j *jsonEncoder) put(c jsonColumn, cell []byte) {
	j.w.WriteString(c.name)
	switch {
	case c.form == textCell:
		j.text(cell)
	case c.form == stampCell && isAbsent(cell):
		j.w.WriteString("null," + c.source + "null")
	case c.form == stampCell:
		last := len(cell) - 1
		j.w.Write(cell[:last])
		j.w.WriteString("," + c.source)
		j.w.WriteString(map[byte]string{'u': `"user"`, 'k': `"kernel"`, 'h': `"hardware"`}[cell[last]])
	case isAbsent(cell):
		j.w.WriteString("null")
	default:
		j.w.Write(cell)
	}
}

func (j *jsonEncoder) text(cell []byte) {
	text, ok := cellText(cell)
	if !ok {
		j.w.WriteString("null")
		return
	}
	j.w.WriteString(jsonText(text))
}

func (j *jsonEncoder) Close(...Field) error { return j.w.Flush() }
