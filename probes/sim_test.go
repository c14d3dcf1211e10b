package probes

import (
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// Two minutes of the literature's worked example: 739 calls over 50 ms in each of two
// stops, and none over 410.
func TestSimIsTheLesson(t *testing.T) {
	p, canonical, err := Probes().Parse("probe", "sim:latency=constant(median=10ms),pauses=periodic")
	if err != nil || p.TakesTarget() {
		t.Fatal(err, canonical)
	}
	rec := &rowsOf{}
	if err := p.Run(t.Context(), "", Plan{Interval: 500 * time.Microsecond, Duration: 2 * time.Minute}, rec); err != nil {
		t.Fatal(err)
	}
	over, worst := 0, time.Duration(0)
	for i := range rec.samples {
		d, ok := rec.samples[i].Latency()
		if !ok {
			t.Fatal(rec.samples[i])
		}
		if d > 50*time.Millisecond {
			over++
		}
		worst = max(worst, d)
	}
	if len(rec.samples) != 240_000 || over != 2*739 || worst != 410*time.Millisecond {
		t.Error(len(rec.samples), over, worst)
	}
}

// An answer that nobody listens for any more is none, and a deadline judges.
func TestSimJudges(t *testing.T) {
	p, _, err := Probes().Parse("probe", "sim:latency=constant(median=10ms),route-at=5ms,route-by=30ms")
	if err != nil {
		t.Fatal(err)
	}
	rec := &rowsOf{}
	plan := Plan{Count: 10, Interval: time.Millisecond, Deadline: datasets.Some(5 * time.Millisecond), Listen: datasets.Some(20 * time.Millisecond)}
	if err := p.Run(t.Context(), "", plan, rec); err != nil {
		t.Fatal(err)
	}
	for i := range rec.samples {
		want := datasets.Late
		if i >= 5 {
			want = datasets.TimedOut
		}
		if rec.samples[i].Outcome != want {
			t.Error(i, rec.samples[i].Outcome)
		}
	}
}
