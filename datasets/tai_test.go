package datasets

import (
	"math"
	"testing"
	"time"
)

func TestCountsTAI(t *testing.T) {
	for theta, want := range map[time.Duration]bool{
		37 * time.Second: true, -37 * time.Second: true, 37*time.Second + 1234567: true, 30 * time.Second: true, 40 * time.Second: true,
		40*time.Second + 49*time.Millisecond: true, 37*time.Second - 49*time.Millisecond: true,
		0: false, 29 * time.Second: false, 41 * time.Second: false, 37*time.Second + 50*time.Millisecond: false,
		36500 * time.Millisecond: false, math.MinInt64: false, math.MaxInt64: false,
	} {
		if CountsTAI(theta) != want {
			t.Errorf("%v: %v", theta, !want)
		}
	}
}
