package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// Sweep returns the specs that are tried when a user names none.
func Sweep() []string {
	return []string{
		"fixed:after=10ms", "fixed:after=20ms", "fixed:after=50ms", "fixed:after=100ms", "fixed:after=200ms",
		"fixed:after=500ms", "fixed:after=1s", "fixed:after=2s",
		"quantile:q=99%,factor=2", "quantile:q=99.9%,factor=1", "quantile:q=99.9%,factor=2",
		"quantile:q=99.99%,factor=1", "quantile:q=99.9%,factor=1,margin=50ms",
		"jacobson", "jacobson:k=8", "jacobson:min=200ms", "jacobson:min=1s",
	}
}

// Candidate is one estimator and what it would have done.
type Candidate struct {
	Spec string // canonical
	Text string // as it was asked for
	Score
	Pareto bool // no other has both fewer false positives and an earlier detection
	Chosen bool
}

// Tuner replays one trace through several estimators in one pass.
type Tuner struct {
	timeline   *timeline
	candidates []Candidate
}

// NewTuner takes specs of estimators, none for [Sweep], and how long the trace
// listened for each answer, 0 if it does not say. A bad spec is a *spec.UsageError.
func NewTuner(specs []string, listen time.Duration) (*Tuner, error) {
	if len(specs) == 0 {
		specs = Sweep()
	}
	var players []*player
	var candidates []Candidate
	for _, text := range specs {
		e, canonical, err := Estimators().Parse("estimator", text)
		if err != nil {
			return nil, err
		}
		players = append(players, newPlayer(e))
		candidates = append(candidates, Candidate{Spec: canonical, Text: text})
	}
	return &Tuner{newTimeline(listen, players...), candidates}, nil
}

// Add takes one attempt, which it does not keep. Rows come ordered by due time or by
// when their outcome became known.
func (t *Tuner) Add(s *datasets.Sample) { t.timeline.add(s) }

// Finish returns what each estimator would have done, in the order asked for, neither
// compared nor chosen: see [Decide]. Nothing is added after it.
func (t *Tuner) Finish() []Candidate {
	t.timeline.end()
	for i, p := range t.timeline.players {
		t.candidates[i].Score = p.score()
	}
	return t.candidates
}

// Columns lists what a replay looks at of an attempt.
func Columns() []string {
	return []string{"seq", "attempt", "due", "sent", "elapsed", "outcome", "deadline"}
}

// Tune reads a trace of round trips to its end and picks an estimator by the goal.
// Specs is as for [NewTuner].
func Tune(rows datasets.Stream, specs []string, goal Goal) (*Tuning, error) {
	listen, _ := rows.Header().Duration(datasets.KeyListen)
	t, err := NewTuner(specs, listen)
	if err != nil {
		return nil, err
	}
	datasets.Only(rows, Columns()...)
	var s datasets.Sample
	for rows.Next(&s) {
		t.Add(&s)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	tuning := Decide(t.Finish(), goal)
	tuning.Warnings = append(rows.Warnings(), tuning.Warnings...)
	return tuning, nil
}
