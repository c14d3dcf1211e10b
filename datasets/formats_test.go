package datasets_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// sample is a small file of a format.
type sample struct {
	format, name string
	text         []byte
}

// samples returns those of every format.
func samples(t *testing.T) []sample {
	t.Helper()
	paths, err := filepath.Glob(samplesOf("*") + "/*")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	var all []sample
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sample{filepath.Base(filepath.Dir(path)), filepath.Base(path), text})
	}
	return all
}

// What holds for every format: its samples are recognised by it alone and give rows, which
// are the same after they were written and read; and what happens to files on their way
// changes no row.
func TestEveryFormat(t *testing.T) {
	all := samples(t)
	has := map[string]bool{}
	for _, s := range all {
		has[s.format] = true
		t.Run(s.format+"/"+s.name, func(t *testing.T) {
			want, back, err := natively(t, s.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.rows) == 0 {
				t.Error("no rows")
			}
			if diff := cmp.Diff(want.rows, back.rows, cmpImported()); diff != "" {
				t.Error("written and read:", diff)
			}
			recognisedOnce(t, s)
			same(t, "gzip", want, zipped(t, s.text))
			if !utf8.Valid(s.text) || bytes.IndexByte(s.text, 0) >= 0 {
				return // no text
			}
			same(t, "byte order mark", want, append([]byte("\ufeff"), s.text...))
			same(t, "CRLF", want, bytes.ReplaceAll(bytes.ReplaceAll(s.text, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")))
			if byLines(s.name) {
				same(t, "a line of 10 MB", want, amid(s.text, bytes.Repeat([]byte("x"), 10<<20)))
				same(t, "a line of junk", want, amid(s.text, []byte("\x01~~ no line of any tool \x7f")))
			}
			among(t, "decimal commas", want, withCommas(s.text))
		})
	}
	for _, f := range datasets.Formats() {
		// A table is never recognised, and native traces have tests of their own.
		if !has[f.Name] && !slices.Contains([]string{"native", "csv", "jsonl", "parquet"}, f.Name) {
			t.Errorf("no sample in %s", samplesOf(f.Name))
		}
	}
}

// byLines reports whether a sample is a log of lines that stand for themselves: whoever
// writes one names it so.
func byLines(name string) bool { return strings.HasSuffix(name, ".log") }

func recognisedOnce(t *testing.T, s sample) {
	t.Helper()
	var by []string
	for _, e := range datasets.Formats() {
		f, _, err := datasets.Formats().Parse("format", e.Name)
		if err == nil && f.Recognise(s.text[:min(len(s.text), 8<<10)]) {
			by = append(by, e.Name)
		}
	}
	if !slices.Equal(by, []string{s.format}) {
		t.Errorf("recognised by %v; want %s alone", by, s.format)
	}
}

func same(t *testing.T, what string, want imported, text []byte) {
	t.Helper()
	got, err := importAll("sample", text, nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want.rows, got.rows, cmpImported()); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// among holds that a faulty text gives no row that the right one does not have, or else
// nothing.
func among(t *testing.T, what string, want imported, text []byte) {
	t.Helper()
	got, err := importAll("sample", text, nil)
	if err != nil {
		oneLine(t, err)
		return
	}
	known := map[string]bool{}
	for _, rows := range want.rows {
		for _, r := range rows {
			known[whatever(r)] = true
		}
	}
	for _, rows := range got.rows {
		for _, r := range rows {
			if s, ok := r.(*datasets.Sample); ok && !s.Outcome.Answered() {
				continue // it has no value
			}
			if !known[whatever(r)] {
				t.Errorf("%s: a row that is not in the sample: %+v", what, r)
			}
		}
	}
}

// whatever writes a row without its time and number, which count from the first row.
func whatever(row datasets.Row) string {
	c := reflect.ValueOf(copyOf(row)).Elem()
	for _, name := range []string{"At", "Due", "Sent", "Seq", "Call"} {
		if f := c.FieldByName(name); f.IsValid() {
			f.SetZero()
		}
	}
	return fmt.Sprintf("%+v", c.Interface())
}

func oneLine(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsRune(err.Error(), '\n') || len(err.Error()) > 1000 {
		t.Errorf("not one short line: %q", err)
	}
}

// amid puts a line into a text of lines, behind those that it is recognised by.
func amid(text, line []byte) []byte {
	most := len(text) * 3 / 4
	most += bytes.IndexByte(text[most:], '\n') + 1
	return slices.Concat(text[:most], line, []byte("\n"), text[most:])
}

// withCommas writes decimal numbers as half of the world does, and leaves addresses.
func withCommas(text []byte) []byte {
	return regexp.MustCompile(`[0-9.]+`).ReplaceAllFunc(text, func(word []byte) []byte {
		if bytes.Count(word, []byte(".")) != 1 || word[0] == '.' || word[len(word)-1] == '.' {
			return word
		}
		return bytes.Replace(word, []byte("."), []byte(","), 1)
	})
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file that was cut off anywhere, or is of another format, or empty, gives one line or
// rows, and nothing worse.
func TestEveryFormatOfBrokenFiles(t *testing.T) {
	all := samples(t)
	for _, s := range all {
		given, _, err := datasets.Formats().Parse("format", s.format)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(s.text); n += max(1, len(s.text)/97) {
			for _, text := range [][]byte{s.text[:n], zipped(t, s.text)[:n/8]} {
				if _, err := importAll("cut", text, given); err != nil {
					oneLine(t, err)
				}
			}
		}
		for _, other := range all {
			if other.format == s.format {
				continue
			}
			got, err := importAll("other", other.text, given)
			if err != nil {
				oneLine(t, err)
			} else if len(got.rows) > 0 {
				t.Errorf("%s reads rows in %s/%s", s.format, other.format, other.name)
			}
		}
		if _, err := importAll("empty", nil, given); err == nil {
			t.Errorf("%s: an empty file is no error", s.format)
		}
	}
}
