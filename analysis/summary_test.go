package analysis_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// trace writes rows as a native trace and opens it.
func trace(t *testing.T, fields []datasets.Field, rows ...datasets.Row) datasets.Stream {
	t.Helper()
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(rows[0].Kind()))
	for _, f := range fields {
		h.Set(f.Key, f.Value)
	}
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	// What only the end tells must still reach the summary.
	if err := w.Close(datasets.Field{Key: datasets.KeyObserved, Value: "1h"}); err != nil {
		t.Fatal(err)
	}
	s, err := datasets.Open("x", &b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tableNames(s *analysis.Summary) string {
	var names []string
	for _, t := range analysis.Tables(s) {
		names = append(names, t.Name)
		for _, row := range t.Rows {
			if len(row) != len(t.Columns) {
				names = append(names, "ragged")
			}
		}
	}
	return strings.Join(names, " ")
}

func TestSummariseEachKind(t *testing.T) {
	stamp := func(ns int64, c datasets.ClockID) datasets.Stamp { return datasets.NewStamp(ns, c, datasets.User) }
	for _, c := range []struct {
		name, want string
		rows       []datasets.Row
	}{
		{"rtt", "summary header", []datasets.Row{&datasets.Sample{Attempt: 1, Elapsed: time.Millisecond}}},
		// θ = ((1−0)+(1−1))/2, δ = (1−0)−(1−1): beevik/ntp's own test case, in ms.
		{"exchange", "summary offsets budget header", []datasets.Row{&datasets.Exchange{
			Sample: datasets.Sample{Attempt: 1},
			T1:     stamp(0, datasets.Local), T2: stamp(1e6, datasets.Remote), T3: stamp(1e6, datasets.Remote), T4: stamp(1e6, datasets.Local),
		}}},
		{"pause", "pauses header", []datasets.Row{&datasets.Pause{Length: time.Second}}},
		{"clock", "clocks header", []datasets.Row{&datasets.ClockReading{Realtime: stamp(0, datasets.Local)}}},
		{"claim", "claims header", []datasets.Row{&datasets.Claim{Source: "kernel", Status: datasets.Synchronised}}},
		{"clock with a step", "clocks steps header", []datasets.Row{
			&datasets.ClockReading{Realtime: stamp(0, datasets.Local), Width: 1},
			&datasets.ClockReading{At: 10, Realtime: stamp(1_000_010, datasets.Local), Monotonic: 10, Raw: 10, Boottime: 10, Width: 1},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := analysis.Summarise("x", trace(t, nil, c.rows...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, tableNames(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSummaryKnowsWhatOnlyTheEndTells(t *testing.T) {
	s, err := analysis.Summarise("x", trace(t, nil, &datasets.Pause{Length: 36 * time.Second}))
	if err != nil {
		t.Fatal(err)
	}
	// 36 s of the hour that stands in the trailer.
	if share, ok := s.Pauses.Share.Value(); !ok || share != 0.01 {
		t.Errorf("share %v, %v: want 0.01", share, ok)
	}
}

func TestSummaryRefusesWhatTooFewSamplesCannotTell(t *testing.T) {
	s, err := analysis.Summarise("x", trace(t, nil, &datasets.Sample{Attempt: 1, Elapsed: time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range analysis.Tables(s)[:1] {
		for i, column := range table.Columns {
			if strings.HasPrefix(column.Name, "p") && table.Rows[0][i] != nil {
				t.Errorf("%s is %v from one sample", column.Name, table.Rows[0][i])
			}
		}
	}
	if len(s.Warnings) != len(analysis.SummaryQuantiles()) {
		t.Errorf("warnings %q: want one a quantile", s.Warnings)
	}
}
