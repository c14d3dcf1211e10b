package datasets_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// sized is bytes that can be read from anywhere.
type sized struct{ *bytes.Reader }

func (s sized) Size() int64 { return s.Reader.Size() }

// asParquet turns a native trace into Parquet.
func asParquet(tb testing.TB, native []byte) []byte {
	tb.Helper()
	r, err := datasets.Open("native", bytes.NewReader(native), nil)
	if err != nil {
		tb.Fatal(err)
	}
	before := r.Header().Clone()
	var b bytes.Buffer
	w, err := datasets.NewParquetWriter(&b, before)
	if err != nil {
		tb.Fatal(err)
	}
	row, _ := datasets.NewRow(before.Kind())
	for r.Next(row) {
		if err := w.Write(row); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(r.Header().Fields()[len(before.Fields()):]...); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// asNative turns it back.
func asNative(tb testing.TB, file []byte) []byte {
	tb.Helper()
	r, err := datasets.Open("file.parquet", sized{bytes.NewReader(file)}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	h := r.Header().Clone()
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, h)
	if err != nil {
		tb.Fatal(err)
	}
	row, _ := datasets.NewRow(h.Kind())
	for r.Next(row) {
		if err := w.Write(row); err != nil {
			tb.Fatal(err)
		}
	}
	if r.Err() != nil || len(r.Warnings()) > 0 {
		tb.Fatal(r.Err(), r.Warnings())
	}
	if err := w.Close(r.Header().Fields()[len(h.Fields()):]...); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// There and back is the same bytes, for every kind of row and for columns nobody knows.
func TestParquetIsIdentity(t *testing.T) {
	for _, row := range rows() {
		t.Run(fmt.Sprintf("%T", row), func(t *testing.T) {
			h := newHeader(row.Kind())
			h.Extra = append(h.Extra, "zz_other", "note")
			native := write(t, h, row)
			if got := asNative(t, asParquet(t, native)); !bytes.Equal(got, native) {
				t.Errorf("got\n%s\nwant\n%s", got, native)
			}
		})
	}
	text := "tickmark-trace 1\nkind: rtt\ntarget: \"a\\n\"\nseq\tcall\tattempt\tdue\tsent\telapsed\toutcome\tstatus\tcopies\tdeadline\tstall\tinflight\tsize\tnote\n" +
		"0\t0\t1\t-5\t0\t7\treplied\t-\t1\t-\t0\t1\t0\t\"un necessary\"\n1\t1\t1\t0\t0\t-\trefused\t-\t0\t5\t0\t1\t0\t-\n# rate: 3/s\n# end: 2\n"
	if got := asNative(t, asParquet(t, []byte(text))); string(got) != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
}

func TestParquetOfSamples(t *testing.T) {
	for _, s := range samples(t) {
		all, err := importAll(s.name, s.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all.series {
			if len(all.rows[name]) == 0 {
				continue
			}
			native := write(t, all.headers[name], all.rows[name]...)
			if got := asNative(t, asParquet(t, native)); !bytes.Equal(got, native) {
				t.Errorf("%s/%s %q: got\n%s\nwant\n%s", s.format, s.name, name, got, native)
			}
		}
	}
}

func manyCalls(tb testing.TB, n int) []byte {
	tb.Helper()
	h := newHeader(datasets.RTT)
	var b bytes.Buffer
	w, err := datasets.NewParquetWriter(&b, h)
	if err != nil {
		tb.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		s := &datasets.Sample{Seq: int64(i), Call: int64(i), Attempt: 1, Due: datasets.Instant(i) * datasets.Instant(time.Millisecond), Copies: 1, Inflight: 1}
		s.Elapsed = time.Duration(200_000 * math.Exp(chance.NormFloat64()/2))
		s.Sent = s.Due + datasets.Instant(20_000+chance.IntN(30_000))
		if i%100 == 99 {
			s.Outcome, s.Elapsed, s.Copies = datasets.TimedOut, 0, 0
		}
		if err := w.Write(s); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// Columns that are read alone have what the rows have, and groups of rows outside the
// wanted time are passed over.
func TestParquetInts(t *testing.T) {
	const n = 1<<19 + 3000 // more than one group
	file := manyCalls(t, n)
	open := func() *datasets.Parquet {
		p, err := datasets.OpenParquet("x", bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	sums, absent, rows := [2]int64{}, 0, 0
	err := open().Ints([]string{"due", "elapsed"}, func(values [][]int64, present [][]bool) error {
		rows += len(values[0])
		for i, v := range values {
			for j := range v {
				if present[i] != nil && !present[i][j] {
					absent++
					continue
				}
				sums[i] += v[j]
			}
		}
		return nil
	})
	var want [2]int64
	lost := 0
	var s datasets.Sample
	r := open()
	for r.Next(&s) {
		want[0] += int64(s.Due)
		if s.Outcome.Answered() {
			want[1] += int64(s.Elapsed)
		} else {
			lost++
		}
	}
	if err != nil || r.Err() != nil || rows != n || sums != want || absent != lost {
		t.Error(err, r.Err(), rows, sums, want, absent, lost)
	}
	late := open()
	late.Between(datasets.Instant(1<<19)*datasets.Instant(time.Millisecond), 1<<62)
	got := 0
	for late.Next(&s) {
		got++
	}
	if got != 3000 {
		t.Errorf("%d rows of the last group", got)
	}
}

func TestParquetOfOthers(t *testing.T) {
	file := manyCalls(t, 100)
	open := func(b []byte) error {
		s, err := datasets.Open("x.parquet", sized{bytes.NewReader(b)}, nil)
		if err != nil {
			return err
		}
		var row datasets.Sample
		for s.Next(&row) {
		}
		return s.Err()
	}
	for n := 4; n < len(file); n += 37 {
		if err := open(file[:n]); err == nil {
			t.Errorf("cut off at %d: no error", n)
		} else {
			oneLine(t, err)
		}
	}
	if _, err := datasets.Open("x.parquet", bytes.NewReader(file), nil); err != nil {
		oneLine(t, err) // a bytes.Reader can be read from anywhere
	}
	if _, err := datasets.Open("pipe", struct{ *bytes.Buffer }{bytes.NewBuffer(file)}, nil); err == nil || !strings.Contains(err.Error(), "read from its end") {
		t.Error(err)
	}
}

// Whatever stands in a file, it ends in rows or an error.
func FuzzParquet(f *testing.F) {
	f.Add(manyCalls(f, 3))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		s, err := datasets.Open("x.parquet", sized{bytes.NewReader(b)}, nil)
		if err != nil {
			return
		}
		row, ok := datasets.NewRow(s.Header().Kind())
		for i := 0; ok && i < 1000 && s.Next(row); i++ {
		}
	})
}

func BenchmarkParquetTwoColumns(b *testing.B) {
	const n = 1 << 20
	file := manyCalls(b, n)
	b.SetBytes(2 * 8 * n)
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		p, err := datasets.OpenParquet("x", bytes.NewReader(file), int64(len(file)))
		if err != nil {
			b.Fatal(err)
		}
		sum := int64(0)
		if err := p.Ints([]string{"due", "elapsed"}, func(values [][]int64, _ [][]bool) error {
			for i, d := range values[0] {
				sum += d ^ values[1][i]
			}
			rows += len(values[0])
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(len(file))/n, "bytes/row")
}

func BenchmarkParquetRows(b *testing.B) {
	const n = 1 << 17
	file := manyCalls(b, n)
	b.ReportAllocs()
	rows := 0
	for b.Loop() {
		p, err := datasets.OpenParquet("x", bytes.NewReader(file), int64(len(file)))
		if err != nil {
			b.Fatal(err)
		}
		var s datasets.Sample
		for p.Next(&s) {
			rows++
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkParquetWrite(b *testing.B) {
	b.ReportAllocs()
	const n = 1 << 17
	for b.Loop() {
		manyCalls(b, n)
	}
	b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "rows/s")
}
