package datasets_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec/spectest"
)

func TestExports(t *testing.T) { spectest.Check(t, "form", datasets.Exports()) }

// export writes rows in a form.
func export(t *testing.T, form string, h *datasets.Header, rows ...datasets.Row) string {
	t.Helper()
	e, _, err := datasets.Exports().Parse("form", form)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	enc, err := e.Begin(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := enc.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every kind of row can be read by the standard library's readers, with as many values as
// there are columns.
func TestExportsOfEveryKind(t *testing.T) {
	for _, row := range rows() {
		h := newHeader(row.Kind())
		lines := strings.Split(export(t, "csv", h, row), "\n")
		for strings.HasPrefix(lines[0], "#") {
			lines = lines[1:]
		}
		table, err := csv.NewReader(strings.NewReader(strings.Join(lines, "\n"))).ReadAll()
		if err != nil || len(table) != 2 {
			t.Fatalf("%T: %v %q", row, err, table)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(export(t, "jsonl", h, row)), &object); err != nil {
			t.Fatalf("%T: %v", row, err)
		}
		for i, name := range table[0] {
			if _, ok := object[name]; !ok {
				t.Errorf("%T: %q (%s) is not in the object", row, name, table[1][i])
			}
		}
	}
}

// What was written as a log of histograms holds the latencies, as exactly as three digits
// do; what had no answer is not in it.
func TestHlogOfLatencies(t *testing.T) {
	h := newHeader(datasets.RTT)
	h.SetEpoch(time.Unix(1_700_000_000, 500_000_000))
	var all []datasets.Row
	for i := range 3000 {
		s := &datasets.Sample{Due: datasets.Instant(i) * datasets.Instant(time.Millisecond), Elapsed: time.Duration(i+1) * time.Microsecond}
		s.Sent = s.Due
		if i%10 == 9 {
			s.Outcome, s.Elapsed = datasets.TimedOut, 0
		}
		all = append(all, s)
	}
	back, err := importAll("x.hlog", []byte(export(t, "hlog", h, all...)), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, p50, _, most, total := quantileOfBins(back.rows[""], 0.5)
	// Nine of ten are left, so that the 1,350th of 2,700 is 1,499 µs.
	if total != 2700 || p50 < 1498*time.Microsecond || p50 > 1501*time.Microsecond || most < 2999*time.Microsecond || most > 3002*time.Microsecond {
		t.Error(total, p50, most)
	}
	if epoch, _ := back.headers[""].Epoch(); !epoch.Equal(time.Unix(1_700_000_000, 500_000_000)) {
		t.Error(epoch)
	}
	spectrum := export(t, "hgrm", h, all...)
	back, err = importAll("x.hgrm", []byte(spectrum), nil)
	if err != nil {
		t.Fatal(err, spectrum)
	}
	if _, _, _, _, total := quantileOfBins(back.rows[""], 0.5); total != 2700 {
		t.Error(total, back.warnings)
	}
}

func TestMergeIsInOrder(t *testing.T) {
	var streams []datasets.Stream
	for i := range 3 {
		h := newHeader(datasets.RTT)
		h.SetEpoch(time.Unix(int64(1000+i), 0))
		var all []datasets.Row
		for j := range 5 {
			s := &datasets.Sample{Seq: int64(j), Call: int64(j), Attempt: 1, Due: datasets.Instant(time.Duration(j*700+i) * time.Millisecond)}
			s.Sent = s.Due
			all = append(all, s)
		}
		r, err := datasets.Open(fmt.Sprint(i), bytes.NewReader(write(t, h, all...)), nil)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, r)
	}
	m, err := datasets.NewMerge([]string{"0", "1", "2"}, streams)
	if err != nil {
		t.Fatal(err)
	}
	last, calls := datasets.Instant(-1), map[int64]bool{}
	var s datasets.Sample
	n := int64(0)
	for ; m.Next(&s); n++ {
		if s.Due < last || s.Seq != n || calls[s.Call] {
			t.Errorf("row %d: %+v behind %v", n, s, last)
		}
		last, calls[s.Call] = s.Due, true
	}
	if n != 15 || m.Err() != nil || last != datasets.Instant(4802*time.Millisecond) { // 2 s + 4 · 700 ms + 2 ms
		t.Error(n, last, m.Err())
	}
}

// Nothing of the original names is in the result, and the same name has the same token.
func TestAnonymiser(t *testing.T) {
	a := datasets.NewAnonymiser([]byte("a secret of sixteen"))
	h := newHeader(datasets.Claims)
	h.Set("target", "db.example.org")
	h.Set("address", "192.0.2.7")
	h.Set("probe", "daemon:host=db.example.org")
	h.Set("command", "ping db.example.org")
	c := &datasets.Claim{Source: "chronyd db.example.org", Status: datasets.Selected, Reference: "192.0.2.7", Facts: "name=db.example.org", Why: "no answer from 192.0.2.7"}
	a.Row(c)
	text := export(t, "trace", a.Header(h), c)
	for _, name := range []string{"example", "192.0.2", "db."} {
		if strings.Contains(text, name) {
			t.Errorf("%q is left in\n%s", name, text)
		}
	}
	if c.Reference != a.Header(h).Text("address") || !strings.HasPrefix(c.Reference, "ip4-") {
		t.Error(c.Reference, a.Header(h).Text("address"))
	}
	if other := datasets.NewAnonymiser([]byte("another secret of many")).Token("192.0.2.7"); other == c.Reference {
		t.Error("one token by two keys")
	}
}

func TestValidate(t *testing.T) {
	broken := func(rows ...datasets.Row) map[string]int64 {
		r, err := datasets.Open("x", bytes.NewReader(write(t, newHeader(datasets.RTT), rows...)), nil)
		if err != nil {
			t.Fatal(err)
		}
		checks, err := datasets.Validate(r)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, c := range checks {
			if c.Broken > 0 {
				got[c.Name] = c.Broken
			}
		}
		return got
	}
	row := func(seq int64, due time.Duration) datasets.Row {
		return &datasets.Sample{Seq: seq, Attempt: 1, Due: datasets.Instant(due), Sent: datasets.Instant(due)}
	}
	if got := broken(row(0, 0), row(1, 5)); len(got) > 0 {
		t.Error(got)
	}
	if diff := cmp.Diff(map[string]int64{"order": 1, "numbers": 2}, broken(row(0, 0), row(0, 7), row(0, 5))); diff != "" {
		t.Error(diff)
	}
}
