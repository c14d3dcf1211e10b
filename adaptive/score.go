package adaptive

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// Score is what one estimator would have done with a trace. Times are in seconds;
// they are absent if the trace has too few attempts for them.
type Score struct {
	Attempts       int64 // all but refused, invalid and lost-local ones
	FalsePositives int64 // answered, but slower than the timeout
	Runs           int64 // maximal runs of false positives, in order of due time
	Undecided      int64 // never answered, but given up by us before the timeout
	Firings        int64 // timeouts that fired: false positives and unanswered attempts

	// Share is false positives ÷ attempts. Its exact binomial limits take attempts as
	// independent; the upper one counts what is undecided as false positives.
	Share analysis.Interval

	TimeoutP50, TimeoutP99, TimeoutMean datasets.Optional[float64]
	// Detection is the time from a crash, at an instant uniform over the trace, to the
	// first firing of an attempt due after it.
	DetectionP50, DetectionP99 datasets.Optional[float64]

	Warnings []string
}

// RetriesAdded returns the timeouts that fired ÷ attempts: what one retry a firing
// would add to the load. It is absent without attempts.
func (s *Score) RetriesAdded() datasets.Optional[float64] { return share(s.Firings, s.Attempts) }

// UndecidedShare returns the undecided ÷ attempts.
func (s *Score) UndecidedShare() datasets.Optional[float64] { return share(s.Undecided, s.Attempts) }

func share(k, n int64) datasets.Optional[float64] {
	if n == 0 {
		return datasets.Optional[float64]{}
	}
	return datasets.Some(float64(k) / float64(n))
}

// player holds one estimator and counts what it would have done.
type player struct {
	estimator  Estimator
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

// send judges an attempt by the timeout of the instant it leaves at.
func (p *player) send(f *flight, at datasets.Instant) {
	timeout := max(p.estimator.Timeout(at), 0)
	p.detection.send(at, timeout)
	slow := f.latency > timeout
	switch f.fate {
	case uncounted:
		return
	case answered:
		if slow {
			p.counts.FalsePositives++
			p.counts.Firings++
		}
		if slow && !p.inRun {
			p.counts.Runs++
		}
		p.inRun = slow
	case unanswered:
		p.counts.Firings++
		if f.latency < timeout {
			p.counts.Undecided++
			p.longest = max(p.longest, f.latency)
		}
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
		s.Warnings = append(s.Warnings, fmt.Sprintf("replay: %s attempts stand far out of order and were taken late: sort the trace by due time", unit.Count(p.disordered)))
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
	return fmt.Sprintf("replay: %s of %s attempts had no answer within %s, and the timeout was longer: undecided",
		unit.Count(p.counts.Undecided), unit.Count(p.counts.Attempts), within)
}

func inSeconds(ns float64, ok bool) datasets.Optional[float64] {
	if !ok {
		return datasets.Optional[float64]{}
	}
	return datasets.Some(ns / 1e9)
}
