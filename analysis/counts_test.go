package analysis_test

import (
	"testing"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func TestCounts(t *testing.T) {
	var c analysis.Counts
	for _, s := range []datasets.Sample{
		{Outcome: datasets.Replied, Copies: 1},
		{Outcome: datasets.Replied, Copies: 3},
		{Outcome: datasets.Late},
		{Outcome: datasets.TimedOut},
		{Outcome: datasets.Refused},
		{Outcome: datasets.Invalid},
		{Outcome: datasets.LostLocal},
	} {
		c.Add(&s)
	}
	want := analysis.Counts{Samples: 7, Replied: 2, Late: 1, TimedOut: 1, Refused: 1, Invalid: 1, LostLocal: 1, Duplicates: 2}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if c.Answered() != 3 || c.Counted() != 4 {
		t.Errorf("answered %d, counted %d; want 3, 4", c.Answered(), c.Counted())
	}
}
