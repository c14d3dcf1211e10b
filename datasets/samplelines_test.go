package datasets

import (
	"encoding/binary"
	"testing"
)

// What is read in one go is what the slow way reads, cell by cell.
func FuzzSampleLine(f *testing.F) {
	f.Add([]byte("0\t0\t1\t-5\t0\t7\treplied\t-\t1\t-\t0\t1\t0"))
	f.Add([]byte("1\t1\t1\t0\t999999999999999999\t-\trefused\t503\t0\t5\t0\t1\t64"))
	f.Add([]byte("1\t1\t1\t0\t9999999999999999999\t-\tlate\t503\t0\t5\t0\t1\t64\t"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var fast, slow Sample
		if !fast.parseLine(line) || fast.check() != nil {
			return
		}
		r := Reader{limit: sampleColumns, known: make([]int, sampleColumns)}
		for i := range r.known {
			r.known[i] = i
		}
		if wrong := r.parseRow(&slow, line); wrong != "" {
			t.Fatalf("%q: in one go %+v; cell by cell: %s", line, fast, wrong)
		}
		if fast != slow {
			t.Errorf("%q: in one go %+v\ncell by cell %+v", line, fast, slow)
		}
	})
}

func TestEightDigits(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"00000000", 0, true},
		{"12345678", 12345678, true},
		{"99999999", 99999999, true},
		{"10000001", 10000001, true},
		{"1234567\t", 0, false},
		{"/2345678", 0, false},
		{"1234:678", 0, false},
		{"1234567\x80", 0, false},
		{"-1234567", 0, false},
		{"\xff\xff\xff\xff\xff\xff\xff\xff", 0, false},
	} {
		if got, ok := eightDigits(binary.LittleEndian.Uint64([]byte(c.text))); ok != c.ok || ok && got != c.want {
			t.Errorf("%q = %d, %v", c.text, got, ok)
		}
	}
}
