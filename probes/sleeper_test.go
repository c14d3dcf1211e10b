package probes

import (
	"context"
	"testing"
	"time"
)

func TestSleeperWakesWhenDue(t *testing.T) {
	for name, s := range map[string]*sleeper{"the system's": newSleeper(), "the runtime's": {}} {
		t.Run(name, func(t *testing.T) {
			defer s.close()
			for _, d := range []time.Duration{-time.Second, 0, 1, time.Millisecond, 2*longestNap + 1} {
				due := time.Now().Add(d)
				if reached := s.until(t.Context(), due); !reached || time.Now().Before(due) {
					t.Errorf("%v: woke %v too early", d, time.Until(due))
				}
			}
		})
	}
}

func TestSleeperIsCancelled(t *testing.T) {
	s := newSleeper()
	defer s.close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if s.until(ctx, time.Now().Add(time.Hour)) {
		t.Error("an hour passed")
	}
	// What is due is due, cancelled or not.
	if !s.until(ctx, time.Now()) {
		t.Error("what is due was given up")
	}
}

func BenchmarkNap(b *testing.B) {
	s := newSleeper()
	defer s.close()
	for b.Loop() {
		s.nap(time.Millisecond)
	}
}
