package probes

import (
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// The wall clock goes along, is slewed at the kernel's fastest, and steps: only the
// steps are seen, between the readings around them.
func TestWallStepsAreNotSlews(t *testing.T) {
	epoch := time.Unix(1_700_000_000, 0)
	var s wallSteps
	read := func(at datasets.Instant, offs ...time.Duration) {
		s.look(func() (int64, datasets.Instant) {
			off := offs[0]
			offs = append(offs[1:], off)
			return epoch.Add(time.Duration(at) + off).UnixNano(), at
		})
	}
	read(ms(0), 0)
	read(ms(100), 10*time.Microsecond)
	read(ms(10_000), 5*time.Millisecond)                      // 500 ppm
	read(ms(10_001), 15*time.Millisecond, 5*time.Millisecond) // put aside between the readings
	if len(s.seen) != 0 {
		t.Fatalf("a slew is taken for a step: %+v", s.seen)
	}
	read(ms(10_010), time.Second+5*time.Millisecond)
	read(ms(10_020), 5*time.Millisecond)
	if len(s.seen) != 2 || s.seen[0].size != time.Second || s.seen[1].size != -time.Second {
		t.Fatalf("got %+v, want steps of 1s and -1s", s.seen)
	}
	for _, tt := range []struct {
		from, to float64
		want     bool
	}{{0, 9_999, false}, {9_999, 10_005, true}, {10_002, 10_003, true}, {10_015, 10_016, true}, {10_021, 10_030, false}} {
		if got := s.within(ms(tt.from), ms(tt.to)); got != tt.want {
			t.Errorf("between %v and %v ms: %v, want %v", tt.from, tt.to, got, tt.want)
		}
	}
}
