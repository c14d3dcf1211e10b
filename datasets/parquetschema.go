package datasets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// sourceSuffix is added to the name of a stamp's column for that of its source.
const sourceSuffix = "_source"

// parquetColumn is a column of a trace as it stands in a Parquet file. A stamp is two:
// whole nanoseconds, since what an exchange is made of is differences of a few of them,
// which the time types of other tools cut to microseconds; and the word for its source.
type parquetColumn struct {
	name   string
	of     int // which of the row's columns; those behind them are the trace's own
	source bool
	field  any // of an empty row
}

// rawField is a cell of a column that this version does not know, as it stands in the
// native form.
type rawField struct{ at *string }

func (f rawField) get() string { return *f.at }
func (rawField) must() bool    { return false }
func (f rawField) set(text string) error {
	if strings.ContainsAny(text, "\t\n") {
		return fmt.Errorf("%s: holds a tab or a line's end", clip([]byte(text)))
	}
	*f.at = text
	return nil
}

// parquetColumns returns those of a row and of the trace itself, in their order.
func parquetColumns(row Row, extra []string) ([]parquetColumn, error) {
	var all []parquetColumn
	fields, names := row.fields(), row.columns()
	for i, name := range names {
		all = append(all, parquetColumn{name: name, of: i, field: fields[i]})
		if s, ok := fields[i].(stamped); ok {
			all = append(all, parquetColumn{name: name + sourceSuffix, of: i, source: true, field: sourceField{s.at}})
		}
	}
	for i, name := range extra {
		all = append(all, parquetColumn{name: name, of: len(names) + i, field: rawField{new(string)}})
	}
	seen := map[string]bool{}
	for _, c := range all {
		if seen[c.name] {
			return nil, fmt.Errorf("parquet: two columns would be named %q", c.name)
		}
		seen[c.name] = true
	}
	return all, nil
}

// field returns that of the column in another row.
func (c *parquetColumn) in(fields []any) any {
	switch {
	case c.of >= len(fields):
		return c.field
	case c.source:
		return sourceField{fields[c.of].(stamped).at}
	}
	return fields[c.of]
}

// optional reports whether a value may be absent.
func (c *parquetColumn) optional() bool {
	switch f := c.field.(type) {
	case wholeField:
		return f.miss()
	case wordField:
		return !f.must()
	}
	return true
}

// node is the column's type: whole numbers as differences, words from a dictionary.
func (c *parquetColumn) node() parquet.Node {
	var n parquet.Node
	switch c.field.(type) {
	case wholeField:
		n = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	case realField:
		n = parquet.Leaf(parquet.DoubleType)
	default:
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	}
	n = parquet.Compressed(n, &parquet.Zstd)
	if c.optional() {
		n = parquet.Optional(n)
	}
	return n
}

// inOrder is a group of columns in the order of the native form; the library's own is that
// of their names.
type inOrder struct {
	parquet.Group
	fields []parquet.Field
}

func (g inOrder) Fields() []parquet.Field { return g.fields }

func parquetSchema(columns []parquetColumn) *parquet.Schema {
	group, place := parquet.Group{}, map[string]int{}
	for i := range columns {
		group[columns[i].name] = columns[i].node()
		place[columns[i].name] = i
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place[a.Name()] - place[b.Name()] })
	return parquet.NewSchema("tickmark", inOrder{group, fields})
}

// A text that is no UTF-8, which readers of Parquet refuse, stands in quotes as in the
// native form; so does one that begins with a quote itself.

func quoted(text string) string {
	if utf8.ValidString(text) && !strings.HasPrefix(text, `"`) {
		return text
	}
	return strconv.Quote(text)
}

func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
		return plain
	}
	return text
}
