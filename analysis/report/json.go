package report

import (
	"bytes"
	"encoding/json"
)

// asJSON writes the output contract: one object, a row a line, keys in the order of
// the columns, absent cells as null.
func asJSON(d *Document) ([]byte, error) {
	var b bytes.Buffer
	p := printer{b: &b}
	p.raw(`{"tickmark": `).value(d.Version).raw(`, "command": `).value(d.Command).raw(`, "warnings": [`)
	for i, w := range d.Warnings {
		p.comma(i, " ").value(w)
	}
	p.raw(`], "tables": [`)
	for i := range d.Tables {
		p.comma(i, "\n").table(&d.Tables[i])
	}
	p.raw("]}\n")
	return b.Bytes(), p.err
}

type printer struct {
	b   *bytes.Buffer
	err error
}

func (p *printer) table(t *Table) {
	p.raw(`{"name": `).value(t.Name).raw(`, "columns": [`)
	for i, c := range t.Columns {
		p.comma(i, " ").raw(`{"name": `).value(c.Name).raw(`, "unit": `).value(c.Unit).raw("}")
	}
	p.raw(`], "rows": [`)
	for i, row := range t.Rows {
		p.comma(i, "").raw("\n{")
		for j, cell := range row {
			p.comma(j, " ").value(t.Columns[j].Name).raw(": ")
			if absent(cell) {
				cell = nil
			}
			p.value(cell)
		}
		p.raw("}")
	}
	p.raw("]}")
}

func (p *printer) raw(s string) *printer {
	p.b.WriteString(s)
	return p
}

func (p *printer) comma(i int, then string) *printer {
	if i > 0 {
		p.raw("," + then)
	}
	return p
}

// value writes v as encoding/json does, but leaves <, > and & readable.
func (p *printer) value(v any) *printer {
	e := json.NewEncoder(p.b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && p.err == nil {
		p.err = err
	}
	p.b.Truncate(len(bytes.TrimRight(p.b.Bytes(), "\n")))
	return p
}
