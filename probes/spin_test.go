package probes

import (
	"testing"
	"time"
)

// Where answers come soon it always looks, and where they come late it does so for one
// attempt in 16.
func TestSpinIsWorthIt(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration
		want  func(looked int) bool
	}{
		"near":   {20 * time.Microsecond, func(n int) bool { return n > 900 }},
		"far":    {200 * time.Microsecond, func(n int) bool { return n == 1000/spinTry }},
		"silent": {0, func(n int) bool { return n == 1000/spinTry }},
	} {
		s := spin{longest: 50 * time.Microsecond}
		now := time.Now()
		looked := 0
		for range 1000 {
			s.sent(now)
			if s.begins(now.Add(time.Microsecond)) {
				looked++
			}
			if tt.takes > 0 {
				s.answered(now.Add(tt.takes))
			}
			now = now.Add(time.Millisecond)
		}
		if !tt.want(looked) {
			t.Errorf("%s: it looked %d times of 1000", name, looked)
		}
	}
	never := spin{}
	never.sent(time.Now())
	if never.begins(time.Now()) {
		t.Error("it looks although it was told never to")
	}
}
