package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets/spec"
)

func write(t *testing.T, format string, d *Document, table string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, d, table); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name, format, table string
		d                   *Document
		want                string
		usage               bool
	}{
		{"unknown format", "jsn", "", tune(), `unknown output format "jsn": did you mean "json"?`, true},
		{"no near format", "parquet", "", tune(), `unknown output format "parquet": want text, json, csv, md`, true},
		{"unknown table", "text", "level", sweep(), `unknown table "level": did you mean "levels"?`, true},
		{"many tables in csv", "csv", "", sweep(), `csv: holds one table; choose it with --table: estimators, levels`, true},
		{"no table in csv", "csv", "", &Document{}, `csv: there is no table to write`, true},
		{
			"a short row", "json", "", &Document{Tables: []Table{{Name: "a", Columns: []Column{{"x", ""}}, Rows: [][]any{{1}, {}}}}},
			`table "a": row 2 has 0 cells for 1 columns`, false,
		},
		{
			"a cell of another type", "csv", "", &Document{Tables: []Table{{Name: "a", Columns: []Column{{"x", ""}}, Rows: [][]any{{[]int{1}}}}}},
			`table "a": row 1, column "x": a cell cannot be a []int`, false,
		},
		{
			"paragraphs by a column that is not there", "text", "", &Document{Tables: []Table{{Name: "a", Columns: []Column{{"x", ""}}, Prose: "state"}}},
			`table "a": no column "state" to group paragraphs by`, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, c.format, c.d, c.table)
			var usage *spec.UsageError
			if err == nil || err.Error() != c.want || errors.As(err, &usage) != c.usage || b.Len() > 0 {
				t.Errorf("got error %v and %d bytes; want %s (usage error: %v) and none", err, b.Len(), c.want, c.usage)
			}
		})
	}
}

// One table alone keeps the doubts and leaves the answer about the whole out.
func TestWriteOneTable(t *testing.T) {
	d := sweep()
	d.Headline, d.Warnings = []string{"two tables"}, []string{"few episodes"}
	out := write(t, "text", d, "levels")
	if strings.Contains(out, "two tables") || strings.Contains(out, "jacobson") || !strings.HasSuffix(out, "\n\n  ! few episodes\n") {
		t.Errorf("got\n%s", out)
	}
	if got := strings.Count(write(t, "json", d, "levels"), `"columns"`); got != 1 {
		t.Errorf("JSON has %d tables, want 1", got)
	}
	if got := write(t, "csv", d, "levels"); !strings.HasPrefix(got, "level,false_positives,") {
		t.Errorf("CSV begins %.40q", got)
	}
}

// contract is the output contract of the product, which others read.
type contract struct {
	Tickmark *string   `json:"tickmark"`
	Command  *string   `json:"command"`
	Warnings *[]string `json:"warnings"`
	Tables   *[]struct {
		Name    string
		Columns []struct{ Name, Unit string }
		Rows    []map[string]any
	} `json:"tables"`
}

func TestJSONKeepsTheContract(t *testing.T) {
	for _, d := range []*Document{tune(), sweep(), clocks(), doctor(), {}} {
		out := write(t, "json", d, "")
		var got contract
		dec := json.NewDecoder(strings.NewReader(out))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil || dec.More() {
			t.Fatalf("%v in\n%s", err, out)
		}
		if got.Tickmark == nil || got.Command == nil || got.Warnings == nil || *got.Warnings == nil || got.Tables == nil || *got.Tables == nil {
			t.Fatalf("something is missing or null at the top of\n%s", out)
		}
		for i, table := range *got.Tables {
			for r, row := range table.Rows {
				if len(row) != len(d.Tables[i].Columns) {
					t.Errorf("table %s, row %d has keys %v", table.Name, r, row)
				}
			}
		}
	}
}

// What a program reads from JSON and from CSV is what the table held, and absent is
// never a number.
func FuzzMachineFormats(f *testing.F) {
	f.Add("fixed:after=50ms", 0.05, int64(math.MaxInt64), true, uint8(0))
	f.Add("a <b> & \"c\",\r\n\u2028", math.NaN(), int64(-1), false, uint8(7))
	f.Add("", math.Inf(-1), int64(0), false, uint8(3))
	f.Add(" =1+1", 5e-324, int64(1), true, uint8(12))
	f.Fuzz(func(t *testing.T, s string, v float64, n int64, b bool, absences uint8) {
		if !utf8.ValidString(s) || strings.Contains(s, "\r\n") {
			return // neither JSON nor CSV can carry them
		}
		row := []any{s, v, n, b}
		for i := range row {
			if absences>>i&1 == 1 {
				row[i] = nil
			}
		}
		d := &Document{Command: s, Warnings: []string{s}, Tables: []Table{{
			Name: "t", Columns: []Column{{"s", ""}, {"v", "s"}, {"n", "count"}, {"b", ""}}, Rows: [][]any{row},
		}}}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			row = []any{row[0], nil, row[2], row[3]}
		}
		checkJSON(t, write(t, "json", d, ""), s, row)
		checkCSV(t, write(t, "csv", d, ""), row)
	})
}

func checkJSON(t *testing.T, out, command string, row []any) {
	t.Helper()
	var got struct {
		Command string
		Tables  []struct{ Rows []json.RawMessage }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Command != command {
		t.Fatalf("error %v, command %q, want %q, in\n%s", err, got.Command, command, out)
	}
	dec := json.NewDecoder(bytes.NewReader(got.Tables[0].Rows[0]))
	dec.UseNumber()
	var tokens []any
	for token, err := dec.Token(); err == nil; token, err = dec.Token() {
		tokens = append(tokens, token)
	}
	want := []any{json.Delim('{')}
	for i, name := range []string{"s", "v", "n", "b"} {
		switch cell := row[i].(type) {
		case int64:
			want = append(want, name, json.Number(strconv.FormatInt(cell, 10)))
		case float64:
			text, _ := tokens[4].(json.Number)
			if back, err := text.Float64(); err != nil || back != cell {
				t.Fatalf("%v became %v", cell, tokens[4])
			}
			want = append(want, name, text)
		default:
			want = append(want, name, cell)
		}
	}
	if diff := cmp.Diff(append(want, json.Delim('}')), tokens); diff != "" {
		t.Fatalf("row (-want +got):\n%s", diff)
	}
}

func checkCSV(t *testing.T, out string, row []any) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(records) != 2 || !cmp.Equal(records[0], []string{"s", "v", "n", "b"}) {
		t.Fatalf("error %v, records %q in\n%s", err, records, out)
	}
	for i, cell := range records[1] {
		var back any = cell
		switch row[i].(type) {
		case nil:
			back = any(nil)
			if cell != "" {
				back = cell
			}
		case float64:
			back, err = strconv.ParseFloat(cell, 64)
		case int64:
			back, err = strconv.ParseInt(cell, 10, 64)
		case bool:
			back, err = strconv.ParseBool(cell)
		}
		if err != nil || !cmp.Equal(back, row[i]) {
			t.Fatalf("%v became %q, %v", row[i], cell, err)
		}
	}
}

// HTML is not escaped: a spec with < in it can be copied out of the JSON.
func TestJSONIsReadable(t *testing.T) {
	out := write(t, "json", &Document{Command: "tune", Warnings: []string{"a<b & c>d"}}, "")
	if !strings.Contains(out, `"a<b & c>d"`) {
		t.Errorf("got %s", out)
	}
}

// Whatever the cells hold, a row of Markdown has one cell a column.
func FuzzMarkdown(f *testing.F) {
	f.Add("a|b", "c\\|d")
	f.Add("line\nbreak", "\x1b[2J")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := &Document{Tables: []Table{{Name: "t", Columns: []Column{{"a", ""}, {"b", ""}}, Rows: [][]any{{a, b}}}}}
		lines := strings.Split(strings.TrimSuffix(write(t, "md", d, ""), "\n"), "\n")
		if len(lines) != 3 {
			t.Fatalf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
		}
		bars, escape := 0, false
		for _, r := range lines[2] {
			if r == '|' && !escape {
				bars++
			}
			escape = r == '\\' && !escape
		}
		if bars != 3 {
			t.Fatalf("%d cells in %s", bars-1, lines[2])
		}
	})
}

// A number is shown no further from the truth than its digits allow: a twentieth of
// itself, or a sixteenth of its interval.
func FuzzNumbers(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint8(9))
	f.Add(uint64(2), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, which, rows uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		base := []string{"s", "ratio", "count", "", "ppm"}[int(which)%5]
		table := Table{Columns: []Column{{"x", base}, {"x_lo", base}, {"x_hi", base}}}
		for range rows%20 + 1 {
			v := (rng.Float64() - 0.2) * math.Pow(10, float64(rng.IntN(12)-9))
			half := math.Abs(v) * math.Pow(10, -3*rng.Float64())
			row := []any{v, v - half*rng.Float64(), v + half}
			if rng.IntN(3) == 0 {
				row = []any{v, nil, nil}
			}
			table.Rows = append(table.Rows, row)
		}
		shown := fields(&table)[0]
		all := make([]float64, 0, 3*len(table.Rows))
		for _, row := range table.Rows {
			for _, cell := range row {
				if v, ok := cell.(float64); ok {
					all = append(all, v)
				}
			}
		}
		factor := unit.Choose(base, all...).Factor
		for i, row := range table.Rows {
			if width(shown.cells[i]) != width(shown.cells[0]) {
				t.Fatalf("cells %q are not equally wide", shown.cells)
			}
			checkShown(t, shown.cells[i], row, factor)
		}
	})
}

func checkShown(t *testing.T, cell string, row []any, factor float64) {
	t.Helper()
	allowed := func(v float64) float64 { return 0.05 * math.Abs(v) }
	if row[1] != nil {
		span := row[2].(float64) - row[1].(float64)
		allowed = func(float64) float64 { return span / 15.9 }
	}
	plain := strings.NewReplacer(",", "", "[", " ", "]", " ").Replace(strings.ReplaceAll(cell, ", ", " "))
	for j, text := range strings.Fields(plain) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(v/factor-row[j].(float64)) > allowed(row[j].(float64)) {
			t.Fatalf("%v is shown as %q (number %d, factor %v)", row, cell, j, factor)
		}
	}
}

// Decimal points stand one under the other, whatever each number has earned.
func TestDecimalsAreAligned(t *testing.T) {
	for _, values := range [][]any{{61.2, 418., 0.0512}, {1e-3, 123456.}, {-5., 0.25, nil}, {1, "never", 2.5}} {
		table := Table{Columns: []Column{{"x", ""}}}
		for _, v := range values {
			table.Rows = append(table.Rows, []any{v})
		}
		cells := fields(&table)[0].cells
		point := -1
		for _, c := range cells {
			at := strings.IndexByte(c, '.')
			if at >= 0 && point >= 0 && at != point {
				t.Errorf("points of %q are not aligned", cells)
			}
			if at >= 0 {
				point = at
			}
		}
	}
}

// A table of words a line can hold never makes a wider line, and shows every word.
func FuzzTextFits(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(2))
	f.Add(uint64(9), uint8(20), uint8(1))
	f.Add(uint64(5), uint8(12), uint8(5))
	f.Fuzz(func(t *testing.T, seed uint64, columns, rows uint8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		word := func() string { return strings.Repeat(string(rune('a'+rng.IntN(26))), 1+rng.IntN(40)) }
		table := Table{Name: "t"}
		for i := range columns%24 + 1 {
			table.Columns = append(table.Columns, Column{fmt.Sprintf("%.20s_%d", word(), i), ""})
		}
		var words []string
		for range rows%6 + 1 {
			row := make([]any, len(table.Columns))
			for j := range row {
				w := word()
				words, row[j] = append(words, w), w
			}
			table.Rows = append(table.Rows, row)
		}
		out := write(t, "text", &Document{Tables: []Table{table}}, "")
		for line := range strings.SplitSeq(out, "\n") {
			if width(line) > room || strings.TrimRight(line, " ") != line {
				t.Fatalf("line of %d characters: %q", width(line), line)
			}
		}
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Fatalf("%q is not in\n%s", w, out)
			}
		}
	})
}

// Columns with nothing in any row are left out of the text and of nothing else.
func TestAbsentColumns(t *testing.T) {
	d := &Document{Tables: []Table{{Name: "t", Columns: []Column{{"a", ""}, {"gone", "s"}}, Rows: [][]any{{"x", nil}, {"y", math.NaN()}}}}}
	for format, has := range map[string]bool{"text": false, "json": true, "csv": true, "md": true} {
		if out := write(t, format, d, ""); strings.Contains(out, "gone") != has {
			t.Errorf("%s (column expected: %v):\n%s", format, has, out)
		}
	}
}

// A sentence that could only be folded to a ribbon stands below its label instead.
func TestSentencesAreNotFoldedToRibbons(t *testing.T) {
	label, found := strings.Repeat("x", 80), strings.TrimSpace(strings.Repeat("word ", 16))
	d := &Document{Tables: []Table{{Columns: []Column{{"check", ""}, {"found", ""}}, Rows: [][]any{{label, found}, {label, "ok"}}}}}
	if out := write(t, "text", d, ""); !strings.Contains(out, "  "+label+"\n      "+found+"\n") {
		t.Errorf("got\n%s", out)
	}
}
