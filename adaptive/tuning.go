package adaptive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// Tuning is the candidates compared, the chosen one first, then those on the Pareto
// front, each part by detection_p99.
type Tuning struct {
	Goal       Goal
	Candidates []Candidate
	Unmet      string // why none is chosen; else empty
	Warnings   []string
}

// Decide marks the Pareto front and the candidate that meets the goal best. If none
// meets the goal none is chosen, and Unmet says why, as does a warning.
func Decide(candidates []Candidate, goal Goal) *Tuning {
	t := &Tuning{Goal: goal, Candidates: slices.Clone(candidates)}
	all := t.Candidates
	markPareto(all)
	chosen := best(all, goal.met, goal.compare)
	if chosen < 0 {
		t.Unmet = goal.unmet(all)
		t.Warnings = append(t.Warnings, "goal: "+t.Unmet)
	}
	for i := range all {
		all[i].Chosen = i == chosen
	}
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(first(a.Chosen, b.Chosen), first(a.Pareto, b.Pareto), cmp.Compare(noticed(&a), noticed(&b)))
	})
	t.warn()
	return t
}

// first orders what holds before what does not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// Chosen returns the candidate to use, or nil.
func (t *Tuning) Chosen() *Candidate {
	if len(t.Candidates) == 0 || !t.Candidates[0].Chosen {
		return nil
	}
	return &t.Candidates[0]
}

// warn gathers what is doubtful about the candidates, each doubt once.
func (t *Tuning) warn() {
	var beyond []string
	var clustered *Candidate
	for i := range t.Candidates {
		c := &t.Candidates[i]
		doubts := c.Warnings
		if c.Undecided > 0 {
			beyond = append(beyond, c.Text)
			doubts = doubts[1:] // a score says that first; here it is said once for all
		}
		for _, w := range doubts {
			if !slices.Contains(t.Warnings, w) {
				t.Warnings = append(t.Warnings, w)
			}
		}
		if c.clustered() && (clustered == nil || !clustered.Chosen && c.FalsePositives < clustered.FalsePositives) {
			clustered = c
		}
	}
	if clustered != nil {
		t.Warnings = append(t.Warnings, fmt.Sprintf("slow calls come together: the %s false positives of %s stand in %s, so limits that take calls as independent are too narrow",
			unit.Count(clustered.FalsePositives), clustered.Text, count(clustered.Runs, "run")))
	}
	if len(beyond) > 0 {
		t.Warnings = append(t.Warnings, fmt.Sprintf("undecided: %s waited longer than the trace listened; what was not answered by then counts against it in the upper limit", andMore(beyond)))
	}
}

// clustered reports whether false positives stand in fewer than half the runs that
// independence would give: n·p·(1−p), Wald and Wolfowitz 1940.
func (s *Score) clustered() bool {
	if s.FalsePositives < 5 {
		return false
	}
	k, n := float64(s.FalsePositives), float64(s.Attempts)
	return 2*float64(s.Runs) < k*(1-k/n)
}

func andMore(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s (and %d more)", names[0], len(names)-1)
}

// Headline returns the recommendation in words, then the goal it answers.
func (t *Tuning) Headline() []string {
	c := t.Chosen()
	if c == nil {
		return []string{"no timeout to recommend", "goal: " + t.Goal.String()}
	}
	return []string{
		fmt.Sprintf("use %s: %s", c.Text, shareText(c.Share)),
		noticedText(c.Score),
		"goal: " + t.Goal.String(),
	}
}

// shareText writes "false positives 0.62 % [0.39, 0.93] of 120,000 attempts".
func shareText(i analysis.Interval) string {
	number := func(o datasets.Optional[float64]) string {
		v, ok := o.Value()
		if !ok {
			return unit.Absent
		}
		return unit.Number(100*v, unit.Decimals(100*v, 3))
	}
	return fmt.Sprintf("false positives %s %% [%s, %s] of %s", number(i.Value), number(i.Lo), number(i.Hi), count(i.N, "attempt"))
}

func noticedText(s Score) string {
	return fmt.Sprintf("a dead peer is noticed after %s (p50), %s (p99)", secondsText(s.DetectionP50), secondsText(s.DetectionP99))
}

func secondsText(o datasets.Optional[float64]) string {
	if v, ok := o.Value(); ok {
		return unit.Format(v, "s")
	}
	return unit.Absent
}

// Table returns the table "estimators". Limits by episode, collapses and stale are
// absent: they need what this replay does not do.
func (t *Tuning) Table() report.Table {
	table := report.Table{
		Name:    "estimators",
		Caption: "Replay of the trace as it is (level L0): " + t.Goal.String(),
		Columns: []report.Column{
			{Name: "estimator"},
			{Name: "false_positives", Unit: "ratio"},
			{Name: "false_positives_lo", Unit: "ratio"},
			{Name: "false_positives_hi", Unit: "ratio"},
			{Name: "false_positives_iid_lo", Unit: "ratio"},
			{Name: "false_positives_iid_hi", Unit: "ratio"},
			{Name: "timeout_p50", Unit: "s"},
			{Name: "timeout_p99", Unit: "s"},
			{Name: "detection_p50", Unit: "s"},
			{Name: "detection_p99", Unit: "s"},
			{Name: "undecided", Unit: "ratio"},
			{Name: "retries_added", Unit: "ratio"},
			{Name: "collapses"},
			{Name: "stale", Unit: "ratio"},
			{Name: "pareto"},
			{Name: "chosen"},
		},
	}
	for i := range t.Candidates {
		c := &t.Candidates[i]
		share, lo, hi := c.Share.Cells()
		table.Rows = append(table.Rows, []any{
			c.Spec, share, nil, nil, lo, hi,
			analysis.Cell(c.TimeoutP50), analysis.Cell(c.TimeoutP99), analysis.Cell(c.DetectionP50), analysis.Cell(c.DetectionP99),
			analysis.Cell(c.UndecidedShare()), analysis.Cell(c.RetriesAdded()), nil, nil, c.Pareto, c.Chosen,
		})
	}
	return table
}
