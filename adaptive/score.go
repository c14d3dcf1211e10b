package adaptive

import (
	"github.com/tickmark/tickmark/analysis"
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

// answered returns how many attempts were.
func (s *Score) answered() int64 { return s.Attempts - s.Undecided - (s.Firings - s.FalsePositives) }

func share(k, n int64) datasets.Optional[float64] {
	if n == 0 {
		return datasets.Optional[float64]{}
	}
	return datasets.Some(float64(k) / float64(n))
}

func inSeconds(ns float64, ok bool) datasets.Optional[float64] {
	if !ok {
		return datasets.Optional[float64]{}
	}
	return datasets.Some(ns / 1e9)
}
