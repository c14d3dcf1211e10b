package adaptive

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// Replay plays one trace to one estimator, as a stream. An answer counts only once
// it has arrived, and an attempt without one is known to have failed only when we
// stopped listening; so the estimator never sees the future.
type Replay struct {
	timeline *timeline
	player   *player
}

// Verdict is what a replay makes of one attempt.
type Verdict struct {
	At            datasets.Instant // when it left
	Timeout       time.Duration    // that the estimator set
	Latency       time.Duration    // of the answer; without one, how long there was none
	FalsePositive bool             // answered, but slower than the timeout
}

// NewReplay returns a replay of a trace that listened so long for each answer (the
// header's "listen"); 0 if it does not say. The estimator must be fresh.
func NewReplay(e Estimator, listen time.Duration) *Replay {
	p := newPlayer(e)
	return &Replay{newTimeline(listen, p), p}
}

// Watch has the verdict on every attempt that left handed to see, in the order in which
// they left. It is called before the first Add; see may be called as late as by Finish.
func (r *Replay) Watch(see func(Verdict)) { r.player.watch = see }

// Add takes one attempt, which it does not keep. Rows come ordered by due time or by
// when their outcome became known.
func (r *Replay) Add(s *datasets.Sample) { r.timeline.add(s) }

// Finish returns the score. Nothing is added after it.
func (r *Replay) Finish() Score {
	r.timeline.end()
	return r.player.score()
}
