package unit

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

func precise(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   int
		ticks  []float64
	}{
		{0, 1, 6, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{0, 1, 5, []float64{0, 0.5, 1}},
		{0, 0.9, 10, []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}}, // 0.3, not 3×0.1
		{math.Nextafter(0.3, 1), 0.5, 3, []float64{0.3, 0.4, 0.5}},              // a hair from a tick is on it
		{-3, 3, 4, []float64{-2, 0, 2}},
		{0.061, 0.449, 5, []float64{0.1, 0.2, 0.3, 0.4}},
		{5.9, 8.1, 0, []float64{6, 8}},
		{1e9, 1e9 + 10, 3, []float64{1e9, 1e9 + 5, 1e9 + 10}},
		{3, 3, 5, []float64{3}},
		{3, 2, 5, nil},
		{0, math.Inf(1), 5, nil},
		{math.NaN(), 1, 5, nil},
	} {
		if got := Ticks(c.lo, c.hi, c.want); !slices.Equal(got, c.ticks) {
			t.Errorf("Ticks(%v, %v, %d) = %v, want %v", c.lo, c.hi, c.want, got, c.ticks)
		}
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		ticks  []float64
	}{
		{1e-4, 1, []float64{1e-4, 1e-3, 1e-2, 1e-1, 1}},
		{0.9, 110, []float64{1, 10, 100}},
		{1, 99, []float64{1, 2, 5, 10, 20, 50}},
		{0.0004, 0.006, []float64{5e-4, 1e-3, 2e-3, 5e-3}},
		{3, 4, []float64{3, 3.5, 4}},
		{1, 100, []float64{1, 10, 100}}, // two decades: the powers are enough
		{0, 1, nil},
		{-1, 1, nil},
		{1, math.Inf(1), nil},
	} {
		if got := LogTicks(c.lo, c.hi); !slices.Equal(got, c.ticks) {
			t.Errorf("LogTicks(%v, %v) = %v, want %v", c.lo, c.hi, got, c.ticks)
		}
	}
}

// Ticks lie within the limits, ascend by one 1-2-5 step, and no finer step would have
// kept to the number wanted.
func FuzzTicks(f *testing.F) {
	f.Add(0.0, 1.0, uint8(5))
	f.Add(-1e-9, 3e-9, uint8(3))
	f.Add(0.1, 0.7, uint8(7))
	f.Fuzz(func(t *testing.T, lo, span float64, want uint8) {
		if !(math.Abs(lo) < 1e12 && span > 1e-12 && span < 1e12 && span > 1e-6*math.Abs(lo)) {
			return
		}
		hi, most := lo+span, max(int(want), 2)
		ticks := Ticks(lo, hi, int(want))
		slack := 1e-8 * span
		if len(ticks) == 0 || len(ticks) > most || ticks[0] < lo-slack || ticks[len(ticks)-1] > hi+slack {
			t.Fatalf("Ticks(%v, %v, %d) = %v", lo, hi, want, ticks)
		}
		if len(ticks) < 2 {
			return
		}
		step := ticks[1] - ticks[0]
		for i := range ticks[1:] {
			if d := ticks[i+1] - ticks[i]; math.Abs(d-step) > 1e-6*step {
				t.Fatalf("Ticks(%v, %v, %d) = %v: steps of %v and %v", lo, hi, want, ticks, step, d)
			}
		}
		digit := step / math.Pow(10, math.Floor(math.Log10(step)+1e-6))
		finer := map[float64]float64{1: 2, 2: 2, 5: 2.5}[math.Round(digit)]
		if finer == 0 || math.Abs(digit-math.Round(digit)) > 1e-6 {
			t.Fatalf("Ticks(%v, %v, %d) = %v: the step is no 1, 2 or 5", lo, hi, want, ticks)
		}
		if fits := math.Floor(span/(step/finer)+1e-6) + 1; fits <= float64(most) {
			t.Fatalf("Ticks(%v, %v, %d) = %v: a finer step gives at most %v", lo, hi, want, ticks, fits)
		}
	})
}

// Every tick of a logarithmic axis is in it, and every power of ten in it is a tick.
func FuzzLogTicks(f *testing.F) {
	f.Add(1e-6, 1.0)
	f.Add(3.0, 5.0)
	f.Fuzz(func(t *testing.T, lo, hi float64) {
		if !(lo > 1e-300 && hi < 1e300 && lo <= hi) {
			return
		}
		ticks := LogTicks(lo, hi)
		if len(ticks) == 0 || !slices.IsSorted(ticks) {
			t.Fatalf("LogTicks(%v, %v) = %v", lo, hi, ticks)
		}
		for _, v := range ticks {
			if v < lo*(1-1e-8) || v > hi*(1+1e-8) {
				t.Fatalf("LogTicks(%v, %v) = %v: %v lies outside", lo, hi, ticks, v)
			}
		}
		for power := -300; power <= 300; power++ {
			if v := math.Pow10(power); lo <= v && v <= hi && len(ticks) > 4 && !slices.Contains(ticks, v) {
				t.Fatalf("LogTicks(%v, %v) = %v: %v is missing", lo, hi, ticks, v)
			}
		}
	})
}
