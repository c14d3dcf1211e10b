package datasets_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
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
		{"latency-column=a,unit=s", "a,b,a\n1,2,3\n", `x.csv:1: column "a" stands twice`},
		{"latency-column=b,unit=s,time-column=a", "a,b,a\n1,2,3\n", `x.csv:1: column "a" stands twice`},
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

// What the user has to write differently is a usage error, whatever the file holds.
func TestCSVWrongUse(t *testing.T) {
	for options, want := range map[string]string{
		"listen=-1s":                             "csv: listen must not be negative",
		"unit=minutes":                           `csv: unit "minutes": want s, ms, us or ns`,
		"time-unit=h":                            `csv: time-unit "h": want s, ms, us or ns`,
		"unit=s":                                 "x.csv: csv: which column holds the latencies? --latency-column NAME",
		"latency-column=a":                       `x.csv: csv: unit "": want s, ms, us or ns`,
		"latency-column=a,unit=s,time-unit=\"\"": `csv: time-unit "": want s, ms, us or ns`,
	} {
		f, _, err := datasets.Formats().Parse("format", "csv:"+options)
		if err == nil {
			_, err = datasets.Open("x.csv", strings.NewReader("a\n1\n"), f)
		}
		var usage *spec.UsageError
		if !errors.As(err, &usage) || usage.Msg != want {
			t.Errorf("%s: got %v, want %s", options, err, want)
		}
	}
}

const noTimes = "x.csv: no time column: calls are taken to have followed one another, so nothing said of instants holds (detection, freezes)"

// The csv package passes over blank lines, which in a file of one column are the
// timeouts.
func TestCSVBlankLines(t *testing.T) {
	for _, c := range []struct {
		name, options, text, want string // R replied, T timed out
		warnings                  []string
	}{
		{"one column", "latency-column=a,unit=s", "a\n1\n\n\n2\n\n", "RTTRT", []string{"x.csv: 3 blank lines are taken as timeouts", noTimes}},
		{"CR LF", "latency-column=a,unit=s", "a\r\n\r\n2\r\n", "TR", []string{"x.csv: 1 blank line is taken as a timeout", noTimes}},
		{"nothing else", "latency-column=a,unit=s", "a\n\n\n", "TT", []string{"x.csv: 2 blank lines are taken as timeouts", noTimes}},
		{"around a bad line", "latency-column=a,unit=s", "a\n1\n\n1,2\n\n3\n", "RTTR", []string{
			"x.csv: 1 line could not be read and is left out: line 4: wrong number of fields",
			"x.csv: 2 blank lines are taken as timeouts", noTimes,
		}},
		{"a cell of two lines", "latency-column=a,unit=s", "a\n\"1\n\"\n2\n", "RR", []string{noTimes}},
		{"no blank line", "latency-column=a,unit=s", "a\n1\n2", "RR", []string{noTimes}},
		{"two columns", "latency-column=a,unit=s", "a,b\n1,\n\n,2\n\n", "RT", []string{"x.csv: 1 blank line is left out", noTimes}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := openCSV(t, c.options, c.text)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			var sample datasets.Sample
			for s.Next(&sample) {
				got += map[datasets.Outcome]string{datasets.Replied: "R", datasets.TimedOut: "T"}[sample.Outcome]
			}
			if diff := cmp.Diff(c.warnings, s.Warnings()); got != c.want || diff != "" || s.Err() != nil {
				t.Errorf("got %s, want %s; error %v, warnings %s", got, c.want, s.Err(), diff)
			}
		})
	}
}

func TestCSVTellsWhatIsOddOfTimes(t *testing.T) {
	// 1790000000 s after 1970 is 2026-09-21 14:13:20 UTC (date -u -d @1790000000).
	s, err := openCSV(t, "latency-column=rtt,unit=ms,time-column=at,listen=1s",
		"at,rtt\n1790000000.5,1\n1790000003,1000\n1790000002,1001\n1790000001,7\n9000000000,7\n-9000000000,7\n")
	if err != nil {
		t.Fatal(err)
	}
	var dues []datasets.Instant
	var sample datasets.Sample
	for s.Next(&sample) {
		dues = append(dues, sample.Due)
	}
	want := []datasets.Instant{0, 2_500_000_000, 1_500_000_000, 500_000_000}
	if diff := cmp.Diff(want, dues); diff != "" {
		t.Error(diff)
	}
	if got, want := s.Header().Text(datasets.KeyEpoch), "2026-09-21T14:13:20.5Z"; got != want {
		t.Errorf("epoch %q, want %q", got, want)
	}
	warnings := []string{
		`x.csv: 2 lines could not be read and are left out: ` +
			`line 6: due "7209999999500000000": more than 146 years from the start of the trace; ` +
			`line 7: due "-9223372036854775808": more than 146 years from the start of the trace`,
		"x.csv: 1 latency is above listen, 1s, and still counts as an answer",
		"x.csv: 2 rows were sent before the row above them",
	}
	if diff := cmp.Diff(warnings, s.Warnings()); diff != "" || s.Err() != nil {
		t.Error(diff, s.Err())
	}
}

func TestCSVTimesSinceAStartHaveNoEpoch(t *testing.T) {
	s, err := openCSV(t, "latency-column=rtt,unit=ms,time-column=at", "at,rtt\n300000000,1\n") // 9.5 years
	if err != nil {
		t.Fatal(err)
	}
	if !s.Next(&datasets.Sample{}) {
		t.Fatal(s.Err())
	}
	if epoch, ok := s.Header().Epoch(); ok {
		t.Errorf("epoch %v", epoch)
	}
}
