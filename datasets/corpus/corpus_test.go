package corpus_test

import (
	"io"
	"testing"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/corpus"
)

// Every recording is whole, says how it was made and what is true of it, and all together
// are small enough to come along.
func TestRecordings(t *testing.T) {
	var size int64
	for _, name := range corpus.Names() {
		f, err := corpus.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, f)
		if err != nil {
			t.Error(err)
		}
		f.Close()
		size += n
		if f, err = corpus.Open(name); err != nil {
			t.Fatal(err)
		}
		s, err := datasets.Open(corpus.Prefix+name, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		row, _ := datasets.NewRow(s.Header().Kind())
		rows := 0
		for s.Next(row) {
			rows++
		}
		if s.Err() != nil || len(s.Warnings()) > 0 || rows < 20 {
			t.Errorf("%s: %d rows, %v, %v", name, rows, s.Err(), s.Warnings())
		}
		for _, key := range []string{corpus.KeyTitle, corpus.KeyMade, corpus.KeyTruth} {
			if s.Header().Text(key) == "" {
				t.Errorf("%s: no %q in its header", name, key)
			}
		}
	}
	if len(corpus.Names()) < 9 || size > 3<<20 {
		t.Errorf("%d recordings of %d bytes; want at most 3 MiB", len(corpus.Names()), size)
	}
}
