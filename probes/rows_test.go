package probes

import (
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// Due at 0, sent 30 ms late by us, answered 30 ms later: the user waited 60 ms.
func TestRowsJudgeWhatTheUserWaited(t *testing.T) {
	at := datasets.Some(60 * time.Millisecond)
	below := datasets.Some(60*time.Millisecond - 1)
	for name, tt := range map[string]struct {
		outcome  datasets.Outcome
		deadline datasets.Optional[time.Duration]
		want     datasets.Outcome
	}{
		"no deadline":       {datasets.Replied, datasets.Optional[time.Duration]{}, datasets.Replied},
		"at the deadline":   {datasets.Replied, at, datasets.Replied},
		"past the deadline": {datasets.Replied, below, datasets.Late},
		"unanswered":        {datasets.TimedOut, below, datasets.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &rowsOf{}
			r := newRows(&flight{cells: udpCells, deadlines: deadlines{fixed: tt.deadline}, open: newInflight(1, 96, time.Second, time.Second)}, rec)
			r.take(7, attempt{sent: ms(30), answered: ms(60), outcome: tt.outcome, copies: 1, server: 5, queued: -1})
			if err := r.record(); err != nil {
				t.Fatal(err)
			}
			s := rec.samples[0]
			if s.Outcome != tt.want || s.Deadline != tt.deadline || s.Seq != 7 || s.Extra != "-\t-\t-\t5\t-\t-" {
				t.Errorf("want %s, got %+v", tt.want, s)
			}
			if latency, ok := s.Latency(); ok && (latency != 60*time.Millisecond || s.Elapsed != 30*time.Millisecond) {
				t.Errorf("latency %v of which %v after sending, want 60ms and 30ms", latency, s.Elapsed)
			}
			if err := r.record(); err != nil || len(rec.samples) != 1 {
				t.Errorf("%d rows of one attempt", len(rec.samples))
			}
		})
	}
}
