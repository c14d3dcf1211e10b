package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"github.com/tickmark/tickmark/datasets/spec"
)

// asCSV writes one table: its column names, then numbers in base units with every
// digit they have; an absent cell is empty.
func asCSV(d *Document) ([]byte, error) {
	if len(d.Tables) == 0 {
		return nil, &spec.UsageError{Msg: "csv: there is no table to write"}
	}
	if len(d.Tables) > 1 {
		var names []string
		for i := range d.Tables {
			names = append(names, d.Tables[i].Name)
		}
		return nil, &spec.UsageError{Msg: "csv: holds one table; choose it with --table: " + strings.Join(names, ", ")}
	}
	t := &d.Tables[0]
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = c.Name
	}
	if err := w.Write(record); err != nil {
		return nil, err
	}
	for _, row := range t.Rows {
		for i, cell := range row {
			record[i] = bare(cell)
		}
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func bare(cell any) string {
	if absent(cell) {
		return ""
	}
	switch v := cell.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}
