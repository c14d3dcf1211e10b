package analysis_test

import (
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func TestPauses(t *testing.T) {
	p := analysis.PauseSummary{Observed: datasets.Some(30 * time.Minute)}
	for i, length := range []time.Duration{40, 400, 60} {
		p.Add(&datasets.Pause{At: datasets.Instant(i) * datasets.Instant(time.Minute), Length: length * time.Millisecond})
	}
	got := p.Summary(.95)
	if got.Count != 3 || len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
	if longest, _ := got.Longest.Value(); longest != .4 {
		t.Errorf("longest %v", longest)
	}
	if share, _ := got.Share.Value(); !within(share, .5/1800, 1e-12) {
		t.Errorf("share %v, want half a second of half an hour", share)
	}
	// Three in half an hour: twice Garwood's .6186721 to 8.767273 (R: poisson.test(3)).
	value, _, _ := got.PerHour.Cells()
	lo, hi := limits(t, got.PerHour)
	if value != 6.0 || !within(lo, 2*.6186721, 1e-6) || !within(hi, 2*8.767273, 1e-6) {
		t.Errorf("per hour %v [%v, %v]", value, lo, hi)
	}
}

func TestPausesNone(t *testing.T) {
	p := analysis.PauseSummary{Observed: datasets.Some(time.Hour)}
	got := p.Summary(.95)
	if _, ok := got.Longest.Value(); ok {
		t.Error("a longest pause of none")
	}
	if share, ok := got.Share.Value(); !ok || share != 0 {
		t.Errorf("share %v, %v", share, ok)
	}
	if lo, hi := limits(t, got.PerHour); lo != 0 || !within(hi, 3.688879, 1e-6) {
		t.Errorf("[%v, %v], want none in an hour to allow 3.69", lo, hi)
	}
	var unknown analysis.PauseSummary
	if got := unknown.Summary(.95); len(got.Warnings) != 1 || analysis.Cell(got.Share) != nil {
		t.Errorf("without a time observed: %+v", got)
	}
	unknown.Add(&datasets.Pause{At: datasets.Instant(5 * time.Second), Length: time.Second})
	unknown.Add(&datasets.Pause{At: datasets.Instant(14 * time.Second), Length: time.Second})
	if share, _ := unknown.Summary(.95).Share.Value(); share != .2 {
		t.Errorf("two pauses of 1 s between 5 s and 15 s: share %v", share)
	}
	checkCells(t, "per hour", new(analysis.PauseSummary).Summary(.95).PerHour, nil, nil, nil)
}
