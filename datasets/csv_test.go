package datasets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec/spectest"
)

func TestFormats(t *testing.T) { spectest.Check(t, "format", datasets.Formats()) }

func openCSV(t *testing.T, options, text string) (datasets.Stream, error) {
	t.Helper()
	f, _, err := datasets.Formats().Parse("format", "csv:"+options)
	if err != nil {
		t.Fatal(err)
	}
	return datasets.Open("x.csv", strings.NewReader(text), f)
}

func TestCSVKeepsNanosecondsAndLoss(t *testing.T) {
	s, err := openCSV(t, "latency-column=rtt,unit=ms,time-column=at",
		"\ufeffat,rtt\r\n1790000000.000000001,1.5\r\n1790000000.100000002,\r\n1790000000.2,0.000001\r\n1790000001,x\r\n")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		due     datasets.Instant
		elapsed time.Duration
		outcome datasets.Outcome
	}
	var got []row
	var sample datasets.Sample
	for s.Next(&sample) {
		got = append(got, row{sample.Due, sample.Elapsed, sample.Outcome})
	}
	want := []row{
		{0, 1_500_000, datasets.Replied}, {100_000_001, 0, datasets.TimedOut}, {199_999_999, 1, datasets.Replied},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" || s.Err() != nil {
		t.Error(diff, s.Err())
	}
	if diff := cmp.Diff([]string{`x.csv: 1 line could not be read and is left out: line 5: "x": want a decimal number`}, s.Warnings()); diff != "" {
		t.Error(diff)
	}
}

func TestCSVAsksForWhatItNeeds(t *testing.T) {
	for _, c := range []struct{ options, text, want string }{
		{"", "a\n1\n", "x.csv: csv: which column holds the latencies? --latency-column NAME"},
		{"latency-column=a", "a\n1\n", `x.csv: csv: unit "": want s, ms, us or ns`},
		{"latency-column=b,unit=s", "a,c\n1,2\n", `x.csv:1: no column "b": the file has a, c`},
		{"latency-column=a,unit=s", "", "x.csv: empty: there is no trace in it"},
		{"latency-column=a,unit=s", "a\n-1\n", `x.csv:2: latency "-1": must not be negative`},
		{"latency-column=a,unit=s", "a\n" + strings.Repeat("1", 70_000), "x.csv:2: a line of more than 65536 bytes"},
		{"latency-column=a,unit=s", "a\n99999999999\n", `x.csv:2: "99999999999": too large`}, // 2^63 ns is 9.2e9 s
		{"latency-column=a,unit=s", "a\n99999999999.x\n", `x.csv:2: "99999999999.x": want a decimal number`},
	} {
		s, err := openCSV(t, c.options, c.text)
		if err == nil {
			for s.Next(&datasets.Sample{}) {
			}
			err = s.Err()
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("csv:%s of %q: got %v\nwant %s", c.options, c.text, err, c.want)
		}
	}
}
