package adaptive

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
)

// player holds one estimator and counts what it would have done.
type player struct {
	estimator  Estimator
	watch      func(Verdict) // nil if nobody does
	counts     Score
	longest    time.Duration // wait of the undecided
	disordered int64
	inRun      bool // the attempt before was a false positive
	timeouts   tally
	detection  detection
}

func newPlayer(e Estimator) *player {
	return &player{estimator: e, timeouts: newTally(), detection: newDetection()}
}

// learns reports whether what the player observes matters to its timeouts.
func (p *player) learns() bool {
	_, same := p.estimator.(fixed)
	return !same
}

// play takes events in their order.
func (p *player) play(events []event) {
	for _, e := range events {
		switch e.kind {
		case answered:
			p.judge(e.latency, p.leave(e))
		case unanswered:
			p.giveUp(e.latency, p.leave(e))
		case uncounted:
			p.leave(e)
		case arrival:
			p.estimator.Observe(Observation{At: e.at, Latency: e.latency, Attempt: int(e.attempt)})
		case silence:
			p.estimator.Observe(Observation{At: e.at, Latency: e.latency, Attempt: int(e.attempt), Censored: true})
		}
	}
}

// leave returns the timeout of an attempt that leaves.
func (p *player) leave(e event) time.Duration {
	timeout := max(p.estimator.Timeout(e.at), 0)
	p.detection.send(e.at, timeout)
	if p.watch != nil {
		p.watch(Verdict{e.at, timeout, e.latency, e.kind == answered && e.latency > timeout})
	}
	return timeout
}

// judge counts an attempt that was answered.
func (p *player) judge(latency, timeout time.Duration) {
	slow := latency > timeout
	if slow {
		p.counts.FalsePositives++
		p.counts.Firings++
		if !p.inRun {
			p.counts.Runs++
		}
	}
	p.inRun = slow
	p.counts.Attempts++
	p.timeouts.add(timeout)
}

// giveUp counts an attempt that was not answered within the wait.
func (p *player) giveUp(wait, timeout time.Duration) {
	p.counts.Firings++
	if wait < timeout {
		p.counts.Undecided++
		p.longest = max(p.longest, wait)
	}
	p.counts.Attempts++
	p.timeouts.add(timeout)
}

func (p *player) score() Score {
	p.detection.end()
	s := p.counts
	s.Share = analysis.ClopperPearson(s.FalsePositives, s.Attempts, analysis.Level)
	if s.Undecided > 0 {
		s.Share.Hi = analysis.ClopperPearson(s.FalsePositives+s.Undecided, s.Attempts, analysis.Level).Hi
		s.Warnings = append(s.Warnings, p.undecided())
	}
	s.Warnings = append(s.Warnings, s.Share.Warnings...)
	if p.disordered > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("replay: taken late because far out of order: %s; sort the trace by due time", count(p.disordered, "attempt")))
	}
	s.TimeoutP50 = inSeconds(p.timeouts.quantile(0.5))
	s.TimeoutP99 = inSeconds(p.timeouts.quantile(0.99))
	s.TimeoutMean = inSeconds(p.timeouts.mean())
	s.DetectionP50 = inSeconds(p.detection.quantile(0.5))
	s.DetectionP99 = inSeconds(p.detection.quantile(0.99))
	return s
}

func (p *player) undecided() string {
	within := "a time the trace does not tell"
	if p.longest > 0 {
		within = unit.Format(p.longest.Seconds(), "s") + ", where listening stopped"
	}
	return fmt.Sprintf("replay: %s of %s had no answer within %s, and the timeout was longer: undecided",
		unit.Count(p.counts.Undecided), count(p.counts.Attempts, "attempt"), within)
}
