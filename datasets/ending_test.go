package datasets_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// How a recording ended, and what was put behind its end, must not pass unseen.
func TestReaderTellsHowATraceEnded(t *testing.T) {
	const head = "tickmark-trace 1\nkind: rtt\n" + rttColumns
	for _, c := range []struct {
		name, text string
		rows       int
		want       []string
	}{
		{"whole", head + rttRow + rttRow + "# end: 2\n", 2, nil},
		{"cut off", head + rttRow, 1, []string{"x: the recording was cut off after line 4; its 1 whole row is used"}},
		{"end says fewer", head + rttRow + rttRow + "# end: 1\n", 2, []string{
			"x: the end line says 1 row was written, but 2 rows were read: the file was changed",
		}},
		{"end says more", head + rttRow + "# end: 5\n", 1, []string{
			"x: the end line says 5 rows were written, but 1 row was read: the file was changed",
		}},
		{"end counts the bad line too", head + rttRow + "x\n# end: 2\n", 1, []string{
			"x: 1 line could not be read and is left out: line 5: want 9 cells",
		}},
		{"end of what", head + rttRow + "# end: all\n", 1, []string{
			`x: 1 line could not be read and is left out: line 5: end "all": want a whole number`,
			"x: the recording was cut off after line 5; its 1 whole row is used",
		}},
		{"rows behind the end", head + rttRow + "# end: 1\n" + rttRow, 2, []string{
			"x: 1 row follows the end line and is used: are these several traces in one file?",
		}},
		{"two traces", head + rttRow + "# end: 1\n" + head + rttRow + rttRow + "# end: 2\n", 1, []string{
			"x: line 6: another trace begins here and is not read: tickmark reads one trace a file",
		}},
		{"two traces, the first cut off", head + rttRow + head + rttRow, 1, []string{
			"x: the recording was cut off after line 4; its 1 whole row is used",
			"x: line 5: another trace begins here and is not read: tickmark reads one trace a file",
		}},
		{"import of a cut-off trace", head + rttRow + "# import-warnings: y: cut off after line 7\n# end: 1\n", 1, []string{
			"x: imported with a warning: y: cut off after line 7",
		}},
		{"import of an import", head + rttRow + "# import-warnings: y: imported with a warning: z: cut off\n# end: 1\n", 1, []string{
			"x: imported with a warning: y: z: cut off",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, warnings := drain(t, c.text)
			if diff := cmp.Diff(c.want, warnings); rows != c.rows || diff != "" {
				t.Errorf("%d rows, want %d; warnings %s", rows, c.rows, diff)
			}
		})
	}
}

// drain reads on after the end too, which must change nothing.
func drain(t *testing.T, text string) (rows int, warnings []string) {
	t.Helper()
	s, err := datasets.Open("x", strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	for s.Next(&datasets.Sample{}) {
		rows++
	}
	if s.Next(&datasets.Sample{}) || s.Err() != nil {
		t.Errorf("behind the end: error %v", s.Err())
	}
	return rows, s.Warnings()
}

func TestNothingLeftOfACompressedTraceIsNoEmptyFile(t *testing.T) {
	whole := write(t, newHeader(datasets.RTT), rows()[0])
	for suffix, header := range map[string]int{".gz": 16, ".zst": 5} { // bytes before any data
		var b bytes.Buffer
		z, err := datasets.Compress(suffix, &b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(whole); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		for n := 4; n < header; n++ {
			_, err := datasets.Open("x", bytes.NewReader(b.Bytes()[:n]), nil)
			if want := "x: the compressed data was cut off before the first row"; err == nil || err.Error() != want {
				t.Errorf("%s cut at %d: got %v, want %s", suffix, n, err, want)
			}
		}
	}
	_, err := datasets.NewReader("x", strings.NewReader("tickmark-trace 1"))
	if want := "x:1: cut off within the first line: there are no rows"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
