package datasets_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
	bundled "github.com/tickmark/tickmark/datasets/corpus"
)

// outside runs the program in testdata/outside, which reads Parquet with DuckDB and
// arrow-go.
func outside(t *testing.T, args ...string) []byte {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "bin", "outside"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("no bin/outside, with the readers of others: make need builds it")
	}
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return out
}

// objects decodes an object a line, numbers as they are written.
func objects(t *testing.T, text []byte) (all []map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for d.More() {
		row := map[string]any{}
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// DuckDB reads the values of every kind of row, which the JSON form has.
func TestParquetByDuckDB(t *testing.T) {
	kinds := map[datasets.Kind][]datasets.Row{}
	for _, row := range rows() {
		kinds[row.Kind()] = append(kinds[row.Kind()], row)
	}
	for kind, all := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			h := newHeader(kind)
			h.Extra = []string{"own"}
			file := filepath.Join(t.TempDir(), "x.parquet")
			if err := os.WriteFile(file, []byte(export(t, "parquet", h, all...)), 0o600); err != nil {
				t.Fatal(err)
			}
			want := objects(t, []byte(export(t, "jsonl", h, all...)))
			got := objects(t, outside(t, "sql", "select * from '"+file+"'"))
			if diff := cmp.Diff(want, got, cmp.FilterValues(bothNumbers, cmp.Comparer(sameNumber)), cmp.FilterValues(bothTexts, cmp.Comparer(sameText))); diff != "" {
				t.Error(diff)
			}
			keys := objects(t, outside(t, "sql", "select decode(value) as target from parquet_kv_metadata('"+file+"') where decode(key) = 'target'"))
			if diff := cmp.Diff([]map[string]any{{"target": h.Text("target")}}, keys); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func bothNumbers(a, b any) bool {
	_, x := a.(json.Number)
	_, y := b.(json.Number)
	return x && y
}

// sameNumber takes 1e+22 for 1e22.
func sameNumber(a, b any) bool {
	x, y := string(a.(json.Number)), string(b.(json.Number))
	if x == y || !strings.ContainsAny(x+y, ".e") {
		return x == y
	}
	f, err1 := strconv.ParseFloat(x, 64)
	g, err2 := strconv.ParseFloat(y, 64)
	return err1 == nil && err2 == nil && f == g
}

func bothTexts(a, b any) bool {
	_, x := a.(string)
	_, y := b.(string)
	return x && y
}

// sameText takes a text that stands in quotes for itself: what is no UTF-8, or begins with
// a quote.
func sameText(a, b any) bool {
	plain := func(s string) string {
		if text, err := strconv.Unquote(s); err == nil && strings.HasPrefix(s, `"`) {
			return strings.ToValidUTF8(text, "\uFFFD")
		}
		return s
	}
	return plain(a.(string)) == plain(b.(string))
}

// The query that the README shows gives what the rows do, and DuckDB passes over groups of
// rows by our statistics.
func TestReadmeQuery(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(strings.Split(string(readme), "\n"), func(line string) bool { return strings.HasPrefix(line, "select ") })
	if i < 0 {
		t.Fatal("the README shows no query")
	}
	file := filepath.Join(t.TempDir(), "http.parquet")
	latencies := asFile(t, "http-gc", file)
	query := strings.ReplaceAll(strings.Split(string(readme), "\n")[i], "http.parquet", file)
	answer := objects(t, outside(t, "sql", query))
	if len(answer) != 1 || len(answer[0]) != 1 {
		t.Fatal(answer)
	}
	slices.Sort(latencies)
	at := 0.99 * float64(len(latencies)-1) // quantile_cont is R's type 7
	low := int(at)
	want := latencies[low] + (at-float64(low))*(latencies[low+1]-latencies[low])
	for _, v := range answer[0] {
		if got, err := v.(json.Number).Float64(); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", query, got, err, want)
		}
	}
	many := filepath.Join(t.TempDir(), "many.parquet")
	if err := os.WriteFile(many, manyCalls(t, 1<<19+3000), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := outside(t, "sql", fmt.Sprintf("explain analyze select sum(elapsed) from '%s' where due > %d", many, int64(1<<19)*1e6))
	if !bytes.Contains(plan, []byte("Row Groups Scanned: 1 / 2")) {
		t.Errorf("%s", plan)
	}
}

// asFile writes a bundled recording as Parquet, and returns its latencies in seconds.
func asFile(t *testing.T, name, file string) (latencies []float64) {
	t.Helper()
	r, err := bundled.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := datasets.Open(name, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := datasets.NewParquetWriter(&b, s.Header())
	if err != nil {
		t.Fatal(err)
	}
	var row datasets.Sample
	for s.Next(&row) {
		if err := w.Write(&row); err != nil {
			t.Fatal(err)
		}
		if d, ok := row.Latency(); ok {
			latencies = append(latencies, d.Seconds())
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return latencies
}

// TestParquetBesideOthers prints how fast two columns of ten million round trips are read
// and XORed, on one core, by us and by others.
func TestParquetBesideOthers(t *testing.T) {
	if os.Getenv("TICKMARK_BENCH_PEERS") == "" {
		t.Skip("make bench-peers runs it")
	}
	const n = 10_000_000
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, manyCalls(t, n), 0o600); err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	t.Setenv("GOMAXPROCS", "1")
	for range 3 {
		began := time.Now()
		folds := foldsOf(t, path, "due", "elapsed")
		t.Logf("tickmark  %6.1f million rows/s", n/time.Since(began).Seconds()/1e6)
		for _, peer := range []string{"duckdb", "arrow"} {
			var a, b, took int64
			if _, err := fmt.Sscan(string(outside(t, peer, path, "due", "elapsed")), &a, &b, &took); err != nil {
				t.Fatal(err)
			}
			if [2]int64{a, b} != folds {
				t.Errorf("%s has %d and %d, and we %v", peer, a, b, folds)
			}
			t.Logf("%-9s %6.1f million rows/s", peer, n/time.Duration(took).Seconds()/1e6)
		}
	}
}

func foldsOf(t *testing.T, path, a, b string) (folds [2]int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := datasets.OpenParquet(path, f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ints([]string{a, b}, func(values [][]int64, _ [][]bool) error {
		for i, column := range values { // an absent value is 0
			for _, v := range column {
				folds[i] ^= v
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return folds
}
