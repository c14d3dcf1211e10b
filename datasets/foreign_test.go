package datasets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tickmark/tickmark/datasets"
)

// samplesOf is the folder of a format's samples. They were written for these tests.
func samplesOf(format string) string { return filepath.Join("testdata", "formats", format) }

// imported is all that a file of another tool gave.
type imported struct {
	series   []string
	rows     map[string][]datasets.Row
	headers  map[string]*datasets.Header
	warnings []string
}

func cmpImported() cmp.Option {
	return cmp.Options{cmp.AllowUnexported(imported{}), cmpopts.IgnoreFields(imported{}, "headers"), cmp.Options(exact)}
}

func copyOf(row datasets.Row) datasets.Row {
	c := reflect.New(reflect.TypeOf(row).Elem())
	c.Elem().Set(reflect.ValueOf(row).Elem())
	return c.Interface().(datasets.Row)
}

// importSample reads one of a format's samples, which must be recognised.
func importSample(t *testing.T, format, name string) imported {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(samplesOf(format), name))
	if err != nil {
		t.Fatal(err)
	}
	all, err := importAll(name, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// importAll reads a file's rows of all series.
func importAll(name string, text []byte, given datasets.Format) (imported, error) {
	all := imported{rows: map[string][]datasets.Row{}, headers: map[string]*datasets.Header{}}
	stream, err := datasets.Open(name, bytes.NewReader(text), given)
	if err != nil {
		return all, err
	}
	f, several := stream.(*datasets.Foreign)
	if !several {
		row, _ := datasets.NewRow(stream.Header().Kind())
		for stream.Next(row) {
			all.rows[""] = append(all.rows[""], copyOf(row))
		}
		all.series, all.warnings = []string{""}, stream.Warnings()
		all.headers[""] = stream.Header()
		return all, stream.Err()
	}
	for s, row, ok := f.Any(); ok; s, row, ok = f.Any() {
		all.rows[s.Name] = append(all.rows[s.Name], copyOf(row))
	}
	for _, s := range f.Series() {
		all.series = append(all.series, s.Name)
		all.headers[s.Name] = s.Header
	}
	all.warnings = f.Warnings()
	return all, f.Err()
}

// natively writes the rows of all series as native traces and reads them again.
func natively(t *testing.T, text []byte, given datasets.Format) (before, after imported, err error) {
	t.Helper()
	before, err = importAll("sample", text, given)
	if err != nil {
		return before, after, err
	}
	after = imported{series: before.series, rows: map[string][]datasets.Row{}, warnings: before.warnings}
	for _, name := range before.series {
		rows := before.rows[name]
		if len(rows) == 0 {
			continue
		}
		var trace bytes.Buffer
		w, err := datasets.NewWriter(&trace, before.headers[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		back, err := importAll("native", trace.Bytes(), nil)
		if err != nil {
			t.Fatalf("series %q, written and read: %v", name, err)
		}
		if len(back.warnings) > 0 {
			t.Errorf("series %q, written and read: %v", name, back.warnings)
		}
		after.rows[name] = back.rows[""]
	}
	return before, after, nil
}

// fuzzFormat holds an importer to what must be true of any file: its rows are possible
// ones, so that they are the same when they were written and read.
func fuzzFormat(f *testing.F, format string) {
	f.Helper()
	samples, err := os.ReadDir(samplesOf(format))
	if err != nil {
		f.Fatal(err)
	}
	for _, sample := range samples {
		text, err := os.ReadFile(filepath.Join(samplesOf(format), sample.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	given, _, err := datasets.Formats().Parse("format", format)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, after, err := natively(t, text, given)
		if err != nil {
			return
		}
		if diff := cmp.Diff(before.rows, after.rows, cmpImported()); diff != "" {
			t.Error(diff)
		}
	})
}
