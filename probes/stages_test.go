package probes

import (
	"testing"
	"time"
)

// Whatever is told when, and in whichever order, the stages are not negative and add up
// to the time between the beginning and the end of the last.
func FuzzStagesAddUp(f *testing.F) {
	f.Add(int64(5), int64(3), int64(9), int64(20))
	f.Add(int64(0), int64(7), int64(0), int64(1))
	f.Fuzz(func(t *testing.T, connected, wrote, first, end int64) {
		began := time.Now()
		m := &marks{began: began}
		m.wrote.Store(max(0, wrote%1e12))
		m.first.Store(max(0, first%1e12))
		var s stages
		s.begin(stageBody+1, began)
		s.end(stageConnect, began.Add(time.Duration(connected%1e12)))
		m.end(&s)
		s.end(stageBody, began.Add(time.Duration(end%1e12)))
		var sum time.Duration
		for _, d := range s.took {
			if d < -1 {
				t.Fatalf("%v", s.took)
			}
			sum += max(d, 0)
		}
		if sum != s.last.Sub(began) || sum < time.Duration(end%1e12) {
			t.Fatalf("%v add up to %v, ended after %v", s.took, sum, s.last.Sub(began))
		}
	})
}
