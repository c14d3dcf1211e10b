package analysis

import (
	"fmt"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
)

// EntrySummary sums up a matrix trace. The zero value is ready; it holds 8 bytes an entry.
type EntrySummary struct {
	places  map[string]bool
	between ranks
	self    int64
	zero    int64
	missing int64
}

// Entries is what a matrix of round trips holds, in seconds. Its entries are places and
// no sample of anything, so there are no intervals.
type Entries struct {
	Places, Pairs, Missing int64
	Least, P50, P90, Most  datasets.Optional[float64] // of pairs of two places
	Warnings               []string
}

// Add takes one entry.
func (s *EntrySummary) Add(e *datasets.Entry) {
	if s.places == nil {
		s.places = map[string]bool{}
	}
	s.places[e.From], s.places[e.To] = true, true
	d, ok := e.Elapsed.Value()
	switch {
	case e.From == e.To:
		s.self++
	case !ok:
		s.missing++
	default:
		s.between.add(d)
		if d == 0 {
			s.zero++
		}
	}
}

// Summary returns the whole.
func (s *EntrySummary) Summary() Entries {
	n := s.between.len()
	out := Entries{Places: int64(len(s.places)), Pairs: int64(n), Missing: s.missing}
	if n > 0 {
		out.Least, out.P50 = someSeconds(s.between.at(1)), someSeconds(s.between.at(quantileRank(n, 0.5)))
		out.P90, out.Most = someSeconds(s.between.at(quantileRank(n, 0.9))), someSeconds(s.between.at(n))
	}
	if s.zero > 0 {
		out.Warnings = []string{fmt.Sprintf("matrix: %s: rounded away, or missing", counted(s.zero, "pair has a round trip of 0", "pairs have a round trip of 0"))}
	}
	return out
}

func entryTable() report.Table {
	return report.Table{Name: "matrix", Columns: []report.Column{
		{Name: "target"},
		{Name: "places", Unit: "count"},
		{Name: "pairs", Unit: "count"},
		{Name: "missing", Unit: "count"},
		{Name: "min", Unit: "s"},
		{Name: "p50", Unit: "s"},
		{Name: "p90", Unit: "s"},
		{Name: "max", Unit: "s"},
	}}
}

func (s *Summary) entryRows() [][]any {
	e := s.Entries
	if e == nil {
		return nil
	}
	return [][]any{{s.path(), e.Places, e.Pairs, e.Missing, Cell(e.Least), Cell(e.P50), Cell(e.P90), Cell(e.Most)}}
}
