package analysis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func TestCausesOfPauses(t *testing.T) {
	p := analysis.PauseSummary{Observed: datasets.Some(1000 * time.Second)}
	for i := range 400 { // 1 to 400 ms
		p.Add(&datasets.Pause{At: datasets.Instant(i) * 1e9, Length: time.Duration(i+1) * time.Millisecond, Cause: "sleep"})
	}
	p.Add(&datasets.Pause{At: 5e11, Length: 100 * time.Second, Cause: "gc"})
	p.Add(&datasets.Pause{At: 7e11, Length: time.Second})
	got := p.Summary(.95)
	var told []string
	for _, c := range got.Causes {
		told = append(told, fmt.Sprintf("%q: %d, longest %v, share %.4g, p50 %v, p99 %v", c.Name, c.Count, c.Longest, analysis.Cell(c.Share), analysis.Cell(c.P50.Value), analysis.Cell(c.P99.Value)))
	}
	// The sum of 1 to 400 ms is 80.2 s; the 200th and the 396th of 400.
	want := `"gc": 1, longest 100, share 0.1, p50 <nil>, p99 <nil>
"sleep": 400, longest 0.4, share 0.0802, p50 0.2, p99 0.396
"": 1, longest 1, share 0.001, p50 <nil>, p99 <nil>`
	if strings.Join(told, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), want)
	}
	// 6 and 368: the least n of a two-sided interval (analysis.NeededN).
	if len(got.Warnings) != 2 || !strings.Contains(got.Warnings[0], "at least 6 pauses for a 95% interval, which 2 of 3 causes") {
		t.Errorf("%q", got.Warnings)
	}
}

func TestCausesAreNotTooMany(t *testing.T) {
	var p analysis.PauseSummary
	for i := range 1000 {
		p.Add(&datasets.Pause{At: datasets.Instant(i), Length: 1, Cause: fmt.Sprint("x", i)})
	}
	causes := p.Summary(.95).Causes
	var n int64
	for _, c := range causes {
		n += c.Count
	}
	if n != 1000 || len(causes) > 65 || causes[0].Name != "other" {
		t.Errorf("%d causes of %d pauses, %q took the most", len(causes), n, causes[0].Name)
	}
}
