package analysis_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func TestClaims(t *testing.T) {
	var sum analysis.ClaimSummary
	us := func(n int) datasets.Optional[time.Duration] {
		return datasets.Some(time.Duration(n) * time.Microsecond)
	}
	for _, c := range []datasets.Claim{
		{Source: "chronyd", Status: datasets.Synchronised, Offset: us(-3), Bound: us(70), Age: us(2)},
		{Source: "chronyd 192.0.2.1", Status: datasets.Selected, Offset: us(5)},
		{Source: "chronyd", Status: datasets.Unreachable, Why: "no answer in 1s"},
		{Source: "chronyd", Status: datasets.Synchronised, Offset: us(-1), Bound: us(10), Age: us(9)},
		{Source: "chronyd", Status: datasets.Synchronised, Offset: us(8), Bound: us(30), Age: us(4)},
	} {
		sum.Add(&c)
	}
	got := sum.Summary()
	cells := func(s analysis.SourceClaims) []any {
		return []any{
			s.Source, s.N, s.Status, analysis.Cell(s.Offset), analysis.Cell(s.Bound), analysis.Cell(s.BoundMax), analysis.Cell(s.AgeMax), s.Doubted,
		}
	}
	want := [][]any{
		{"chronyd", int64(4), "synchronised 3, unreachable 1", -1e-6, 30e-6, 70e-6, 9e-6, int64(1)},
		{"chronyd 192.0.2.1", int64(1), "selected", 5e-6, nil, nil, nil, int64(0)},
	}
	if len(got.Sources) != 2 {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if diff := cmp.Diff(want[i], cells(got.Sources[i])); diff != "" {
			t.Error(diff)
		}
	}
	if want := []string{"chronyd: 1 claim of 4 not to be believed: no answer in 1s"}; !slices.Equal(got.Warnings, want) {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// The order of the rows of different sources changes nothing but the order of sources.
func TestClaimsOfSourcesDoNotMix(t *testing.T) {
	rows := []datasets.Claim{
		{Source: "a", Status: datasets.Stale, Offset: datasets.Some(time.Second), Why: "x"},
		{Source: "b", Status: datasets.Stale, Offset: datasets.Some(time.Hour), Why: "y"},
		{Source: "a", Status: datasets.Stale, Offset: datasets.Some(time.Minute), Why: "z"},
	}
	var mixed, apart analysis.ClaimSummary
	for _, i := range []int{0, 1, 2} {
		mixed.Add(&rows[i])
	}
	for _, i := range []int{0, 2, 1} {
		apart.Add(&rows[i])
	}
	if diff := cmp.Diff(mixed.Summary(), apart.Summary(), cmp.AllowUnexported(datasets.Optional[float64]{})); diff != "" {
		t.Error(diff)
	}
}

func TestManyReasonsAreFewWarnings(t *testing.T) {
	var sum analysis.ClaimSummary
	for _, why := range []string{"a", "b", "c", "d", "e", "d"} {
		sum.Add(&datasets.Claim{Source: "ntpd", Status: datasets.Stale, Why: why})
	}
	got := sum.Summary().Warnings
	if len(got) != 4 || got[3] != "ntpd: 2 other reasons not to believe it" {
		t.Errorf("%q", got)
	}
}

func TestClaimsSayWhatWasLost(t *testing.T) {
	fields := []datasets.Field{{Key: datasets.KeyLost, Value: "no permission"}}
	s, err := analysis.Summarise("x", trace(t, fields, &datasets.Claim{Source: "chronyd", Status: datasets.Synchronised}))
	if err != nil || !slices.Equal(s.Warnings, []string{"x: no permission"}) {
		t.Errorf("warnings %q, err %v", s.Warnings, err)
	}
}
