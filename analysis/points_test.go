package analysis_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// row returns the only row of a table, without limits.
func onlyRow(t *testing.T, s *analysis.Summary, table string) map[string]any {
	t.Helper()
	for _, tb := range analysis.Tables(s) {
		if tb.Name != table {
			continue
		}
		if len(tb.Rows) != 1 {
			t.Fatalf("%d rows", len(tb.Rows))
		}
		cells := map[string]any{}
		for i, c := range tb.Columns {
			cells[c.Name] = tb.Rows[0][i]
		}
		return cells
	}
	t.Fatalf("no table %q", table)
	return nil
}

func summary(t *testing.T, rows ...datasets.Row) *analysis.Summary {
	t.Helper()
	s, err := analysis.Summarise("a.log", trace(t, []datasets.Field{{Key: "target", Value: "x"}}, rows...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Six values are the least whose median has limits at 95 %: 1 − 2/2⁶ = 96.9 %.
func TestPoints(t *testing.T) {
	var rows []datasets.Row
	for i := range 6 {
		rows = append(rows, &datasets.Point{
			Offset: datasets.Some(time.Duration(i-1) * time.Millisecond), Frequency: datasets.Some(float64(i) * 1e-6), Delay: datasets.Some(time.Duration(i)),
		})
	}
	rows = append(rows, &datasets.Point{Outcome: datasets.Invalid, Offset: datasets.Some(time.Hour)}, &datasets.Point{Outcome: datasets.TimedOut})
	got := onlyRow(t, summary(t, rows...), "series")
	for column, want := range map[string]any{
		"points": int64(6), "failed": int64(2), "offset_p50": 0.001, "offset_p50_lo": -0.001, "offset_p50_hi": 0.004,
		"offset_p99_abs": nil, "frequency_p50": 2.0, "error_p50": nil, "value_min": nil,
	} {
		if !cmp.Equal(got[column], want) {
			t.Errorf("%s = %v, want %v", column, got[column], want)
		}
	}
	agreed := analysis.AgreementTables(summary(t, rows...))[0]
	if state := agreed.Rows[0][len(agreed.Columns)-1]; state != "told" {
		t.Errorf("state %v of a clock that nothing here can check", state)
	}
	phase := onlyRow(t, summary(t, &datasets.Point{Value: datasets.Some(-1.5)}, &datasets.Point{Value: datasets.Some(2.25)}), "series")
	if phase["value_min"] != -1.5 || phase["value_max"] != 2.25 {
		t.Error(phase)
	}
}

// The limits are those of the bins in which the order statistics lie, whichever way the
// counts are split over intervals.
func TestBins(t *testing.T) {
	us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	bin := func(at, low, high, count int64) datasets.Row {
		return &datasets.Bin{At: datasets.Instant(us(at)), Low: us(low), High: datasets.Some(us(high)), Count: count}
	}
	rows := []datasets.Row{bin(0, 0, 10, 500), bin(0, 10, 20, 400), bin(5, 0, 10, 50), bin(5, 20, 30, 50)}
	got := onlyRow(t, summary(t, rows...), "histogram")
	for column, want := range map[string]any{
		"values": int64(1000), "p50": 1e-5, "p50_lo": 0.0, "p50_hi": 1e-5, "p90": 2e-5, "p90_lo": 1e-5, "p90_hi": 2e-5,
		"p99": 3e-5, "p99_lo": 2e-5, "p99_hi": 3e-5, "p999": nil, "max": 3e-5,
	} {
		if !cmp.Equal(got[column], want) {
			t.Errorf("%s = %v, want %v", column, got[column], want)
		}
	}
	// A quantile that lies where the histogram has ended is above it, and no more is known.
	open := &datasets.Bin{Low: us(30), Count: 500}
	got = onlyRow(t, summary(t, append(rows, open)...), "histogram")
	if got["p90"] != nil || got["p90_lo"] != 3e-5 || got["p90_hi"] != nil {
		t.Errorf("p90 %v [%v, %v]", got["p90"], got["p90_lo"], got["p90_hi"])
	}
}

func TestEntries(t *testing.T) {
	entry := func(from, to string, ms int) datasets.Row {
		return &datasets.Entry{From: from, To: to, Elapsed: datasets.Some(time.Duration(ms) * time.Millisecond)}
	}
	s := summary(t, entry("a", "a", 0), entry("a", "b", 10), entry("b", "a", 12), entry("a", "c", 0), &datasets.Entry{From: "c", To: "a"})
	got := onlyRow(t, s, "matrix")
	for column, want := range map[string]any{
		"places": int64(3), "pairs": int64(3), "missing": int64(1), "min": 0.0, "p50": 0.01, "max": 0.012,
	} {
		if !cmp.Equal(got[column], want) {
			t.Errorf("%s = %v, want %v", column, got[column], want)
		}
	}
	if len(s.Warnings) != 1 {
		t.Error(s.Warnings)
	}
}
