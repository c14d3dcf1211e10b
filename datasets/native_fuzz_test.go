package datasets_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// FuzzReader holds the reader to this: whatever it accepts, written and read again,
// is the same header and the same rows.
func FuzzReader(f *testing.F) {
	for _, r := range rows() {
		f.Add(write(f, newHeader(r.Kind()), r, r))
	}
	f.Add([]byte("tickmark-trace 1\nkind: pause\nat\tlength\tcause\tcpu\n1\t2\t\"a\\tb\"\t7\n"))
	f.Add([]byte("tickmark-trace 1\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, first, err := readAll(data)
		if err != nil {
			return
		}
		again := write(t, h, first...)
		_, second, err := readAll(again)
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v\n%q", err, again)
		}
		if diff := cmp.Diff(first, second, exact...); diff != "" {
			t.Fatal(diff)
		}
	})
}

func readAll(data []byte) (*datasets.Header, []datasets.Row, error) {
	r, err := datasets.NewReader("fuzz", bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	var rows []datasets.Row
	for {
		row, _ := datasets.NewRow(r.Header().Kind())
		if !r.Next(row) {
			return r.Header(), rows, r.Err()
		}
		rows = append(rows, row)
	}
}
