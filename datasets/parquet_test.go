package datasets_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

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
	if warnings := strings.Join(r.Warnings(), "\n"); r.Err() != nil || strings.Contains(warnings, "left out") {
		tb.Fatal(r.Err(), warnings)
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

// FuzzParquetIsIdentity holds it for whatever a native reader accepts.
func FuzzParquetIsIdentity(f *testing.F) {
	for _, r := range rows() {
		f.Add(write(f, newHeader(r.Kind()), r, r))
	}
	f.Add([]byte("tickmark-trace 1\nkind: pause\nat\tlength\tcause\tcpu\tz\n1\t2\t\"a\\tb\"\t7\t\n9223372036854775807\t0\t\"\\\"\"\t\xff\t-\n"))
	f.Add([]byte("tickmark-trace 1\nkind: matrix\ntickmark-header: \"\\xff\"\nto\tnote\tfrom\telapsed\na\t\"x\tb\t-\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, rows, err := readAll(data)
		if err != nil {
			return
		}
		var native bytes.Buffer
		w, err := datasets.NewWriter(&native, h)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		var trailer []datasets.Field
		if _, there := h.Value("said-last"); !there {
			trailer = []datasets.Field{{Key: "said-last", Value: h.Text("note")}}
		}
		if err := w.Close(trailer...); err != nil {
			t.Fatal(err)
		}
		if _, err := datasets.NewParquetWriter(io.Discard, h); err != nil {
			if !strings.Contains(err.Error(), "two columns would be named") {
				t.Fatal(err)
			}
			return
		}
		if got := asNative(t, asParquet(t, native.Bytes())); !bytes.Equal(got, native.Bytes()) {
			t.Fatalf("got\n%q\nwant\n%q", got, native.Bytes())
		}
	})
}

// Round trips that are made in one go are those that are put together value by value, as
// they are where the trace has a column of its own.
func TestParquetTrips(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	number := func() int64 {
		return []int64{0, 1, chance.Int64N(1000), chance.Int64(), math.MaxInt64, -1, -chance.Int64(), math.MinInt64}[chance.IntN(8)]
	}
	var samples []*datasets.Sample
	for range 20_000 {
		s := &datasets.Sample{Seq: chance.Int64(), Call: 1, Attempt: 1 + chance.IntN(2), Copies: 1, Outcome: datasets.Outcome(chance.IntN(6))}
		if s.Outcome.Answered() {
			s.Elapsed = time.Duration(chance.Int64N(1e9))
		}
		if chance.IntN(2) == 0 {
			s.Status = datasets.Some(chance.IntN(600))
		}
		if chance.IntN(3) == 0 {
			s.Deadline = datasets.Some(time.Duration(1 + chance.IntN(600)))
		}
		for range chance.IntN(2) { // what no measurement gives
			*[]*int64{&s.Seq, &s.Call, (*int64)(&s.Due), (*int64)(&s.Sent), (*int64)(&s.Elapsed), (*int64)(&s.Stall)}[chance.IntN(6)] = number()
			*[]*int{&s.Attempt, &s.Copies, &s.Inflight, &s.Size}[chance.IntN(4)] = int(number())
			if chance.IntN(2) == 0 {
				s.Status = datasets.Some(int(number()))
				s.Deadline = datasets.Some(time.Duration(number()))
			}
		}
		samples = append(samples, s)
	}
	read := func(extra ...string) (rows []datasets.Sample, warnings []string) {
		h := newHeader(datasets.RTT)
		h.Extra = extra
		var b bytes.Buffer
		w, err := datasets.NewParquetWriter(&b, h)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range samples {
			if err := w.Write(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		p, err := datasets.OpenParquet("x", bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var s datasets.Sample
		for p.Next(&s) {
			s.Extra = ""
			rows = append(rows, s)
		}
		if p.Err() != nil {
			t.Fatal(p.Err())
		}
		return rows, p.Warnings()
	}
	fast, doubts := read()
	slow, same := read("own")
	if diff := cmp.Diff(slow, fast, exact...); diff != "" || len(fast) < 5000 || len(fast) > 19_000 {
		t.Errorf("%d rows: %s", len(fast), diff)
	}
	if diff := cmp.Diff(same, doubts); diff != "" || len(doubts) == 0 {
		t.Error(doubts, diff)
	}
}

// What is asked for alone is the same as what all columns have, and the rest is empty.
func TestParquetOnly(t *testing.T) {
	file := manyCalls(t, 3000)
	var all, some datasets.Sample
	whole, err := datasets.OpenParquet("x", bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := datasets.OpenParquet("x", bytes.NewReader(file), int64(len(file)))
	datasets.Only(part, "seq", "due")
	n := 0
	for whole.Next(&all) && part.Next(&some) {
		all.Call, all.Copies, all.Inflight = 0, 0, 0
		if all != some {
			t.Fatalf("row %d: %v, want %v", n, some, all)
		}
		n++
	}
	if n != 3000 || part.Err() != nil {
		t.Error(n, part.Err())
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
	for n := 4; n < len(file); n += 37 {
		if err := readThrough(file[:n]); err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("cut off at %d: %v", n, err)
		} else {
			oneLine(t, err)
		}
	}
	if err := readThrough(file); err != nil {
		t.Error(err)
	}
	if _, err := datasets.Open("pipe", struct{ *bytes.Buffer }{bytes.NewBuffer(file)}, nil); err == nil || !strings.Contains(err.Error(), "read from its end") {
		t.Error(err)
	}
	huge := bytes.Clone(file)
	copy(huge[len(huge)-8:], "\xff\xff\xff\x7f")
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"metadata larger than the file", "it says that its metadata is of 2147483647 bytes", huge},
		{"of another tool", "no tickmark trace", othersFile(t, parquet.Group{"due": parquet.Int(64)}, "")},
		{"no column of another", `column "sent" is missing`, othersFile(t, parquet.Group{"due": parquet.Int(64), "seq": parquet.Int(64), "call": parquet.Int(64), "attempt": parquet.Int(64)}, rttHead)},
		{"a column of another type", `column "seq" is of type DOUBLE: want INT64`, othersFile(t, parquet.Group{"seq": parquet.Leaf(parquet.DoubleType)}, rttHead)},
		{"a column of lists", `column "seq" is missing, or no plain one`, othersFile(t, parquet.Group{"seq": parquet.Repeated(parquet.Int(64))}, rttHead)},
		{"a header that is none", `want a whole number`, othersFile(t, parquet.Group{"seq": parquet.Int(64)}, "tickmark-trace x\n")},
	} {
		if err := readThrough(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.name, err, c.want)
		} else {
			oneLine(t, err)
		}
	}
}

const rttHead = "tickmark-trace 1\nkind: rtt\nseq\tcall\tattempt\tdue\tsent\telapsed\toutcome\tcopies\tdeadline\n"

// othersFile is one row of zeros by another writer of the same library.
func othersFile(t *testing.T, columns parquet.Group, head string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("x", columns))
	if head != "" {
		w.SetKeyValueMetadata("tickmark-header", head)
	}
	var row parquet.Row
	for i, f := range columns.Fields() {
		v := parquet.ZeroValue(f.Type().Kind())
		level := 0
		if f.Repeated() {
			level = 1
		}
		row = append(row, v.Level(0, level, i))
	}
	if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Words that are all different leave their dictionary, and come back.
func TestParquetOfManyWords(t *testing.T) {
	h := newHeader(datasets.Pauses)
	h.Extra = []string{"own", "other"}
	var rows []datasets.Row
	for i := range 60_000 {
		p := &datasets.Pause{At: datasets.Instant(i), Cause: fmt.Sprintf("%064d", i), Extra: fmt.Sprintf("%032d\t-", i)}
		if i%1000 == 0 {
			p.Cause = strings.Repeat("x", 1<<15)
		}
		rows = append(rows, p)
	}
	native := write(t, h, rows...)
	if got := asNative(t, asParquet(t, native)); !bytes.Equal(got, native) {
		t.Errorf("%d bytes for %d", len(got), len(native))
	}
}

// A file with one byte changed, whichever, ends in rows or in one line, and needs no more
// memory than the file does.
func TestParquetWithAChangedByte(t *testing.T) {
	file := manyCalls(t, 20)
	var before, after runtime.MemStats
	for i := range file {
		for _, change := range []byte{0x01, 0xff} {
			b := bytes.Clone(file)
			b[i] ^= change
			runtime.ReadMemStats(&before)
			err := readThrough(b)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
				t.Errorf("byte %d changed by %x: %d bytes of memory", i, change, grown)
			}
			if err != nil {
				oneLine(t, err)
			}
		}
	}
}

func readThrough(file []byte) error {
	s, err := datasets.Open("x.parquet", sized{bytes.NewReader(file)}, nil)
	if err != nil {
		return err
	}
	row, ok := datasets.NewRow(s.Header().Kind())
	for ok && s.Next(row) {
	}
	return s.Err()
}

// Whatever stands in a file, it ends in rows or an error.
func FuzzParquet(f *testing.F) {
	f.Add(manyCalls(f, 3))
	for _, r := range rows() {
		f.Add(asParquet(f, write(f, newHeader(r.Kind()), r, r)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		s, err := datasets.Open("x.parquet", sized{bytes.NewReader(b)}, nil)
		if err != nil {
			oneLine(t, err)
			return
		}
		h := s.Header().Clone()
		row, _ := datasets.NewRow(h.Kind())
		var native bytes.Buffer
		w, err := datasets.NewWriter(&native, h)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 1000 && s.Next(row); n++ {
			if err := w.Write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		// What is accepted is a row, as the native form has it.
		_, again, err := readAll(native.Bytes())
		if err != nil || int64(len(again)) != w.Rows() {
			t.Fatalf("%d rows of %d, %v\n%q", len(again), w.Rows(), err, native.Bytes())
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

// counting tells whether a file was read since it was looked at.
type counting struct {
	*bytes.Reader
	reads *int
}

func (c counting) ReadAt(p []byte, at int64) (int, error) {
	*c.reads++
	return c.Reader.ReadAt(p, at)
}

// Traces that follow one another are read one after another, and of each only what is
// asked for.
func TestMergeOfParquet(t *testing.T) {
	const n = 3000
	var streams []datasets.Stream
	reads := make([]int, 3)
	for i, second := range []int64{6, 0, 3} {
		h := newHeader(datasets.RTT)
		h.SetEpoch(time.Unix(1000+second, 0))
		var b bytes.Buffer
		w, err := datasets.NewParquetWriter(&b, h)
		if err != nil {
			t.Fatal(err)
		}
		for j := range n {
			at := datasets.Instant(j) * datasets.Instant(time.Millisecond)
			if err := w.Write(&datasets.Sample{Attempt: 1, Due: at, Sent: at, Copies: 1}); err != nil {
				t.Fatal(err)
			}
		}
		trailer := datasets.Field{Key: "note", Value: "late"}
		if i == 2 {
			trailer = datasets.Field{Key: datasets.KeyUnfit, Value: "too slow"}
		}
		if err := w.Close(trailer); err != nil {
			t.Fatal(err)
		}
		p, err := datasets.OpenParquet("x", counting{bytes.NewReader(b.Bytes()), &reads[i]}, int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, p)
	}
	m, err := datasets.NewMerge([]string{"c", "a", "b"}, streams)
	if err != nil {
		t.Fatal(err)
	}
	clear(reads)
	datasets.Only(m, "seq")
	m.Between(datasets.Instant(3*time.Second), datasets.Instant(time.Hour))
	var s datasets.Sample
	for i := range 2 * n {
		if !m.Next(&s) || s.Due != datasets.Instant(3*time.Second)+datasets.Instant(i)*datasets.Instant(time.Millisecond) || s.Copies != 0 {
			t.Fatalf("row %d: %+v, %v", i, s, m.Err())
		}
		if idle := reads[0] == 0; idle != (i < n) {
			t.Fatalf("row %d: the last file was read %d times", i, reads[0])
		}
	}
	if m.Next(&s) || m.Err() != nil || reads[1] != 0 {
		t.Error(s, m.Err(), reads)
	}
	if unfit := m.Header().Text(datasets.KeyUnfit); unfit != "b: too slow" {
		t.Errorf("unfit %q", unfit)
	}
}

func BenchmarkMergeOfParquet(b *testing.B) {
	const n, files = 1 << 17, 3
	file := manyCalls(b, n)
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		var streams []datasets.Stream
		for range files {
			p, err := datasets.OpenParquet("x", bytes.NewReader(file), int64(len(file)))
			if err != nil {
				b.Fatal(err)
			}
			streams = append(streams, p)
		}
		m, err := datasets.NewMerge([]string{"a", "b", "c"}, streams)
		if err != nil {
			b.Fatal(err)
		}
		var s datasets.Sample
		for m.Next(&s) {
			rows++
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
