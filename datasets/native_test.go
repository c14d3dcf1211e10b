package datasets_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tickmark/tickmark/datasets"
)

func newHeader(kind datasets.Kind) *datasets.Header {
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(kind))
	h.Set(datasets.KeyTarget, "127.0.0.1:9")
	h.Set("note", "two\nlines, \"quoted\"")
	h.SetEpoch(time.Unix(1790000000, 123456789))
	h.SetDuration(datasets.KeyListen, 2*time.Second)
	return h
}

// rows has, for each kind, rows with every cell set and with every cell absent.
func rows() []datasets.Row {
	full := datasets.Sample{
		Seq: 1, Call: 7, Attempt: 2, Due: 10, Sent: 12, Elapsed: 345, Outcome: datasets.Late,
		Status: datasets.Some(503), Copies: 2, Deadline: datasets.Some(50 * time.Millisecond), Stall: 3, Inflight: 4, Size: 64,
	}
	return []datasets.Row{
		&full, &datasets.Sample{Attempt: 1, Outcome: datasets.TimedOut},
		&datasets.Exchange{
			Sample: full, T1: datasets.NewStamp(-5, datasets.Local, datasets.User), T2: datasets.NewStamp(1, datasets.Remote, datasets.Kernel),
			T3: datasets.NewStamp(1<<62, datasets.Remote, datasets.Hardware), T4: datasets.NewStamp(9, datasets.Local, datasets.Kernel),
			Stratum: datasets.Some(1), Leap: datasets.Some(0), RootDelay: datasets.Some(time.Duration(0)),
			RootDispersion: datasets.Some(time.Millisecond), Precision: datasets.Some(-23), Reference: "GPS\x00", Why: "a\tb",
			CorrectionOut: datasets.Some(-time.Nanosecond), CorrectionBack: datasets.Some(time.Microsecond), UTCOffset: datasets.Some(37 * time.Second),
		},
		&datasets.Exchange{Sample: datasets.Sample{Attempt: 1, Outcome: datasets.Refused}},
		&datasets.Pause{At: 5, Length: time.Millisecond, Cause: "gc"}, &datasets.Pause{},
		&datasets.ClockReading{At: 1, Realtime: datasets.NewStamp(2, datasets.Local, datasets.User), Monotonic: 3, Raw: 4, Boottime: 5, Width: 6},
		&datasets.ClockReading{},
		aClaim(), &datasets.Claim{Source: "kernel", Status: datasets.Unsynchronised},
		&datasets.Point{
			At: -7, Outcome: datasets.TimedOut, Offset: datasets.Some(time.Duration(-1)), Value: datasets.Some(-1.5e-300), Frequency: datasets.Some(1e22),
			Delay: datasets.Some(time.Millisecond), Error: datasets.Some(time.Duration(0)), Status: "s2 \xff",
		},
		&datasets.Point{},
		&datasets.Bin{At: 1, Length: datasets.Some(time.Second), Low: 2, High: datasets.Some(time.Duration(3)), Count: 1<<63 - 1}, &datasets.Bin{},
		&datasets.Entry{From: "-", To: `"a`, Elapsed: datasets.Some(time.Millisecond)}, &datasets.Entry{From: "a", To: "b"},
	}
}

func write(tb testing.TB, h *datasets.Header, rows ...datasets.Row) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, h)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(datasets.Field{Key: "rate", Value: "99.8/s"}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

var exact = []cmp.Option{cmp.AllowUnexported(datasets.Header{}, datasets.Stamp{},
	datasets.Optional[int]{}, datasets.Optional[time.Duration]{}, datasets.Optional[datasets.PPB]{}, datasets.Optional[float64]{}), cmpopts.EquateEmpty()}

func TestWriteReadIsIdentity(t *testing.T) {
	for _, want := range rows() {
		t.Run(fmt.Sprintf("%T", want), func(t *testing.T) {
			h := newHeader(want.Kind())
			r, err := datasets.Open("x.trace", bytes.NewReader(write(t, h, want)), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := datasets.NewRow(want.Kind())
			if !r.Next(got) {
				t.Fatal(r.Err())
			}
			if diff := cmp.Diff(want, got, exact...); diff != "" {
				t.Error(diff)
			}
			if r.Next(got) || r.Err() != nil || len(r.Warnings()) > 0 {
				t.Errorf("at the end: err %v, warnings %q", r.Err(), r.Warnings())
			}
			h.Set("rate", "99.8/s")
			if diff := cmp.Diff(h, r.Header(), exact...); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestExchangeReadsAsRTT(t *testing.T) {
	e := rows()[2].(*datasets.Exchange)
	r, err := datasets.Open("x", bytes.NewReader(write(t, newHeader(datasets.Exchanges), e)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var s datasets.Sample
	if !r.Next(&s) {
		t.Fatal(r.Err())
	}
	if diff := cmp.Diff(e.Sample, s, exact...); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownColumnsAndKeysAreKept(t *testing.T) {
	text := "tickmark-trace 1\nkind: pause\nfuture-key: x\nat\tlength\tcause\tcpu\tirq\n1\t2\t-\t7\tq\n# end: 1\n"
	r, err := datasets.Open("x", strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var p datasets.Pause
	if !r.Next(&p) || p.Extra != "7\tq" {
		t.Fatalf("extra %q, err %v", p.Extra, r.Err())
	}
	r.Next(&datasets.Pause{})
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b.String() != text {
		t.Errorf("got %q\nwant %q", b.String(), text)
	}
}

func TestCutAnywhereIsReadable(t *testing.T) {
	s := rows()[0]
	whole := write(t, newHeader(datasets.RTT), s, s, s)
	for _, suffix := range []string{".trace", ".trace.gz", ".trace.zst"} {
		var b bytes.Buffer
		z, err := datasets.Compress(suffix, &b)
		if err != nil {
			t.Fatal(err)
		}
		ends := []int{} // compressed length after each line
		for line := range bytes.Lines(whole) {
			z.Write(line)
			z.Flush()
			ends = append(ends, b.Len())
		}
		headerLines := bytes.Count(whole, []byte("\n")) - 5
		for n := 1; n < b.Len(); n++ {
			want := 0
			for i := range 3 {
				if n >= ends[headerLines+i] {
					want++
				}
			}
			got, warnings, err := countRows(bytes.NewReader(b.Bytes()[:n]))
			if n < ends[headerLines-1] {
				continue // within the header: an error or nothing
			}
			// A compressed row can be whole before the marker behind it is.
			tooMany := got > want+1 || (got > want && suffix == ".trace")
			if err != nil || got < want || tooMany || (n < ends[len(ends)-2] && warnings != 1) {
				t.Fatalf("%s cut at %d: %d rows (want %d), %d warnings, err %v", suffix, n, got, want, warnings, err)
			}
		}
	}
}

func countRows(r *bytes.Reader) (rows, warnings int, err error) {
	s, err := datasets.Open("x", r, nil)
	if err != nil {
		return 0, 0, err
	}
	var sample datasets.Sample
	for s.Next(&sample) {
		rows++
	}
	return rows, len(s.Warnings()), s.Err()
}

func TestBadFilesAreOneClearLine(t *testing.T) {
	const head = "tickmark-trace 1\nkind: pause\nat\tlength\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "x: empty: there is no trace in it"},
		{"crlf", strings.ReplaceAll(head, "\n", "\r\n"), "x:1: lines end in CR LF: a trace has LF alone (tr -d '\\r' mends it)"},
		{"binary", "\x7fELF\x00\x01", "which no format that tickmark reads does"},
		{"newer", "tickmark-trace 9\n", "x:1: version 9 is newer than this tickmark reads (1)"},
		{"no version", "tickmark-trace one\n", `x:1: version "one": want a whole number`},
		{"no columns", "tickmark-trace 1\nkind: pause\n", "x:2: cut off within the header: there are no rows"},
		{"kind", "tickmark-trace 1\nkind: ghost\nat\tlength\n", `x:3: kind "ghost": this version has no rows for it`},
		{"missing", "tickmark-trace 1\nkind: pause\nat\tx\n", `x:3: column "length" is missing`},
		{"twice", "tickmark-trace 1\nkind: pause\nat\tat\n", `x:3: column "at" stands twice or is empty`},
		{"number", head + "1\t12.5\n", `x:4: length "12.5": want a whole number`},
		{"overflow", head + "1\t9223372036854775808\n", `length "9223372036854775808": too large`}, // 2^63
		{"underflow", head + "-9223372036854775808\t1\n", `at "-9223372036854775808": too small`},
		{"no digits", head + "99999999999999999999x\t1\n", `at "99999999999999999999x": want a whole number`},
		{"cells", head + "1\t2\t3\n", "x:4: want 2 cells"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := datasets.Open("x", strings.NewReader(c.text), nil)
			if err == nil {
				for s.Next(&datasets.Pause{}) {
				}
				err = s.Err()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestOneBadLineDoesNotEndAStream(t *testing.T) {
	text := "tickmark-trace 1\nkind: pause\nat\tlength\n1\t2\nx\t2\n" + strings.Repeat("9", 1<<20) + "\n3\t4\n# end: 2\n"
	s, err := datasets.Open("x", strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []datasets.Instant
	var p datasets.Pause
	for s.Next(&p) {
		got = append(got, p.At)
	}
	want := []string{`x: 2 lines could not be read and are left out: line 5: at "x": want a whole number; line 6: a line of more than 65536 bytes`}
	if diff := cmp.Diff(want, s.Warnings()); diff != "" || s.Err() != nil {
		t.Error(diff, s.Err())
	}
	if diff := cmp.Diff([]datasets.Instant{1, 3}, got); diff != "" {
		t.Error(diff)
	}
}

// endless is a line without an end.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left -= int64(len(p)); e.left < 0 {
		return 0, fmt.Errorf("read on to the end")
	}
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestEndlessLineIsRefusedEarly(t *testing.T) {
	if _, err := datasets.Open("x", &endless{1 << 20}, nil); err == nil || strings.Contains(err.Error(), "read on") {
		t.Errorf("got %v", err)
	}
	if _, err := datasets.NewReader("x", &endless{1 << 20}); err == nil || strings.Contains(err.Error(), "read on") {
		t.Errorf("got %v", err)
	}
}
