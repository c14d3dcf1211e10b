package analysis_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

const ppm = 1e-6

// host makes readings of clocks that are off from true time by known amounts.
type host struct{ wall, mono, boot func(raw float64) float64 }

func (h host) read(raw float64, width time.Duration) *datasets.ClockReading {
	ns := func(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
	return &datasets.ClockReading{
		At: datasets.Instant(ns(raw)), Raw: ns(raw), Monotonic: ns(h.mono(raw)), Boottime: ns(h.boot(raw)), Width: width,
		Realtime: datasets.NewStamp(1.79e18+int64(ns(h.wall(raw))), datasets.Local, datasets.User),
	}
}

func TestClocksStepsAndRates(t *testing.T) {
	// NTP holds MONOTONIC and REALTIME back by 20 ppm; at 40 s the wall clock is set
	// 3 ms back, at 60 s it is set 1 s forward.
	mono := func(raw float64) float64 { return raw * (1 - 20*ppm) }
	h := host{
		mono: mono, boot: mono,
		wall: func(raw float64) float64 {
			w := mono(raw)
			if raw > 40 {
				w -= .003
			}
			if raw > 60 {
				w++
			}
			return w
		},
	}
	var c analysis.ClockSummary
	for i := range 101 {
		c.Add(h.read(float64(i), 2*time.Microsecond))
	}
	c.Add(&datasets.ClockReading{}) // no wall clock
	got := c.Summary(.95)
	// A clock set back falls behind: θ grows by 3 ms; set forward, θ falls by 1 s.
	want := []analysis.Step{{At: 41, Size: .003, Bound: 4e-6}, {At: 61, Size: -1, Bound: 4e-6}}
	if len(got.Steps) != len(want) {
		t.Fatalf("steps %+v, want %+v", got.Steps, want)
	}
	for i, s := range got.Steps {
		if s.At != want[i].At || math.Abs(s.Size-want[i].Size) > 2e-9 || s.Bound != want[i].Bound {
			t.Errorf("step %+v, want %+v", s, want[i])
		}
	}
	checkRate(t, "MONOTONIC loses 20 ppm", got.MonotonicVsRaw, 20, 4e-6/91*1e6)
	checkRate(t, "REALTIME follows it", got.RealtimeVsMonotonic, 0, 4e-6/91*1e6)
	if v, ok := got.Suspended.Value(); !ok || v != 0 {
		t.Errorf("suspended %v, %v", v, ok)
	}
	if v, _, _ := got.Width.Cells(); v != 2e-6 {
		t.Errorf("width %v", v)
	}
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "1 reading has no wall clock") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// checkRate allows the span a fifth more or less: which readings are compared is the
// summary's choice.
func checkRate(t *testing.T, name string, r analysis.Rate, want, bound float64) {
	t.Helper()
	got, ok1 := r.PPM.Value()
	limit, ok2 := r.Bound.Value()
	if !ok1 || !ok2 || math.Abs(got-want) > 1e-4 || !within(limit, bound, .2) {
		t.Errorf("%s: %v ± %v ppm, want %v ± %v", name, got, limit, want, bound)
	}
}

func TestClocksSuspendIsNoStep(t *testing.T) {
	slept := func(raw float64) float64 {
		if raw > 30 {
			return 3600
		}
		return 0
	}
	same := func(raw float64) float64 { return raw }
	h := host{mono: same, boot: func(raw float64) float64 { return raw + slept(raw) }, wall: func(raw float64) float64 { return raw + slept(raw) }}
	var c analysis.ClockSummary
	for i := range 60 {
		c.Add(h.read(float64(i), 3*time.Microsecond))
	}
	got := c.Summary(.95)
	if len(got.Steps) != 0 || len(got.Warnings) != 0 {
		t.Errorf("steps %+v, warnings %q", got.Steps, got.Warnings)
	}
	if v, _ := got.Suspended.Value(); math.Abs(v-3600) > 1e-6 {
		t.Errorf("suspended %v, want an hour", v)
	}
	checkRate(t, "REALTIME", got.RealtimeVsMonotonic, 0, 6e-6/53*1e6)
}

func TestClocksNoiseWithinTheWidthsIsNoStep(t *testing.T) {
	same := func(raw float64) float64 { return raw }
	h := host{mono: same, boot: same, wall: same}
	var c analysis.ClockSummary
	for i := range 50 {
		r := h.read(float64(i), 5*time.Microsecond)
		r.Monotonic += time.Duration(i%2) * 10 * time.Microsecond // exactly both widths
		r.Boottime = r.Monotonic
		c.Add(r)
	}
	if got := c.Summary(.95); len(got.Steps) != 0 {
		t.Errorf("steps %+v", got.Steps)
	}
	var few analysis.ClockSummary
	few.Add(h.read(1, 1))
	if got := few.Summary(.95); len(got.Warnings) != 2 || analysis.Cell(got.Suspended) != nil {
		t.Errorf("one reading: %+v", got)
	}
}

func TestClocksThatSlewApart(t *testing.T) {
	same := func(raw float64) float64 { return raw }
	h := host{mono: same, boot: same, wall: func(raw float64) float64 { return raw * (1 + 100*ppm) }}
	var c analysis.ClockSummary
	for i := range 50 {
		c.Add(h.read(float64(i), time.Microsecond))
	}
	if got := c.Summary(.95); len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "slews REALTIME apart") {
		t.Errorf("warnings %q", got.Warnings)
	}
}
