package datasets

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// parquetColumn is a column of a trace as it stands in a Parquet file: a stamp is two,
// the second one with its source.
type parquetColumn struct {
	name     string
	form     cellForm
	of       int  // which of the row's columns; those behind them are the trace's own
	source   bool // of a stamp
	optional bool
}

// sourceSuffix is added to the name of a stamp's column for that of its source.
const sourceSuffix = "_source"

// parquetColumns returns the columns of a trace, in the order of the names, which is that
// of a schema.
func parquetColumns(h *Header) ([]parquetColumn, error) {
	row, ok := NewRow(h.Kind())
	if !ok {
		return nil, fmt.Errorf("parquet: kind %q has no rows", h.Kind())
	}
	var all []parquetColumn
	for i, name := range row.columns() {
		c := parquetColumn{name: name, form: formOf(h.Kind(), name), of: i}
		// What an empty row has none of may be absent; so may the time of an attempt that
		// had no answer.
		c.optional = isAbsent(row.append(nil, i)) || name == "elapsed"
		all = append(all, c)
		if c.form == stampCell {
			all = append(all, parquetColumn{name: name + sourceSuffix, form: textCell, of: i, source: true, optional: true})
		}
	}
	for i, name := range h.Extra {
		all = append(all, parquetColumn{name: name, form: rawCell, of: len(row.columns()) + i, optional: true})
	}
	slices.SortFunc(all, func(a, b parquetColumn) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for i := 1; i < len(all); i++ {
		if all[i].name == all[i-1].name {
			return nil, fmt.Errorf("parquet: two columns would be named %q", all[i].name)
		}
	}
	return all, nil
}

// node is the column's type: whole numbers as differences, words from a dictionary.
func (c *parquetColumn) node() parquet.Node {
	var n parquet.Node
	switch c.form {
	case textCell, rawCell:
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case realCell:
		n = parquet.Leaf(parquet.DoubleType)
	case numberCell, stampCell:
		n = parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	}
	n = parquet.Compressed(n, &parquet.Zstd)
	if c.optional {
		n = parquet.Optional(n)
	}
	return n
}

func parquetSchema(columns []parquetColumn) *parquet.Schema {
	group := parquet.Group{}
	for i := range columns {
		group[columns[i].name] = columns[i].node()
	}
	return parquet.NewSchema("tickmark", group)
}
