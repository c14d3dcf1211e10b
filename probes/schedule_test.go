package probes

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

func dues(s schedule, most int) []datasets.Instant {
	var got []datasets.Instant
	for n, due := range s.all() {
		if int(n) != len(got) {
			panic("attempts are not numbered from 0")
		}
		if got = append(got, due); len(got) == most {
			break
		}
	}
	return got
}

func TestScheduleIsWhatWasAskedFor(t *testing.T) {
	const ms = datasets.Instant(time.Millisecond)
	for name, tt := range map[string]struct {
		plan Plan
		want []datasets.Instant // of the first 5
		text string
	}{
		"by count": {
			Plan{Count: 3, Interval: 10 * time.Millisecond},
			[]datasets.Instant{0, 10 * ms, 20 * ms},
			"constant:interval=10ms,count=3",
		},
		// The end of the duration is outside it, as in a half-open interval.
		"by duration": {
			Plan{Duration: 20 * time.Millisecond, Interval: 10 * time.Millisecond},
			[]datasets.Instant{0, 10 * ms},
			"constant:interval=10ms,duration=20ms",
		},
		"whatever ends first": {
			Plan{Count: 1, Duration: time.Hour},
			[]datasets.Instant{0},
			"constant:interval=7ms,count=1,duration=1h",
		},
		"no limit": {
			Plan{},
			[]datasets.Instant{0, 7 * ms, 14 * ms, 21 * ms, 28 * ms},
			"constant:interval=7ms",
		},
		// 2^62 + 2^62 does not fit: the schedule ends rather than wraps around.
		"the end of time": {
			Plan{Interval: 1 << 62},
			[]datasets.Instant{0, 1 << 62},
			"constant:interval=1281023h53m38.427387904s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := newSchedule(tt.plan, 7*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, dues(s, 5)); diff != "" {
				t.Error(diff)
			}
			if s.String() != tt.text {
				t.Errorf("got %q, want %q", s, tt.text)
			}
		})
	}
}

func TestScheduleRefuses(t *testing.T) {
	for name, plan := range map[string]Plan{
		"interval": {Interval: -1}, "count": {Count: -1}, "duration": {Duration: -1},
	} {
		if _, err := newSchedule(plan, time.Second); err == nil {
			t.Errorf("a negative %s was taken", name)
		}
	}
}

// The gaps of a Poisson process of rate 1/m are independent and exponential: their
// mean is m, their standard deviation m, and neighbours do not correlate. Of n gaps
// the three estimates have standard errors m/√n, √2·m/√n (the fourth central moment
// of an exponential is 9m⁴) and 1/√n; 5 of them is a chance of 6e-7.
func TestPoissonGaps(t *testing.T) {
	const n, m = 100_000, float64(time.Millisecond)
	s := schedule{arrivals: arrivals{how: poisson, seed: 1}, interval: time.Millisecond}
	at := dues(s, n+1)
	gaps := make([]float64, n)
	var sum, squares float64
	for i := range gaps {
		gaps[i] = float64(at[i+1].Sub(at[i]))
		sum += gaps[i]
	}
	mean := sum / n
	var products float64
	for i, g := range gaps {
		squares += (g - mean) * (g - mean)
		if i > 0 {
			products += (g - mean) * (gaps[i-1] - mean)
		}
	}
	se := 1 / math.Sqrt(n)
	if d := math.Abs(mean/m - 1); d > 5*se {
		t.Errorf("mean gap is off by %.4f of itself", d)
	}
	if d := math.Abs(math.Sqrt(squares/n)/m - 1); d > 5*math.Sqrt2*se {
		t.Errorf("standard deviation of the gaps is off by %.4f of itself", d)
	}
	if r := products / squares; math.Abs(r) > 5*se {
		t.Errorf("neighbouring gaps correlate: %.4f", r)
	}
	// The largest distance from 1−e^(−x/m); 1.95/√n is Kolmogorov's limit for 0.1 %.
	slices.Sort(gaps)
	for i, g := range gaps {
		if d := math.Abs(1 - math.Exp(-g/m) - (float64(i)+.5)/n); d > 1.95*se {
			t.Fatalf("gap %d of the sorted ones, %v ns, is %.4f away from exponential", i, g, d)
		}
	}
}

func TestPoissonIsItsSeed(t *testing.T) {
	one := schedule{arrivals: arrivals{how: poisson, seed: 1}, interval: time.Millisecond}
	two := one
	two.arrivals.seed = 2
	if !slices.Equal(dues(one, 100), dues(one, 100)) {
		t.Error("the same seed gave two schedules")
	}
	if slices.Equal(dues(one, 100), dues(two, 100)) {
		t.Error("two seeds gave one schedule")
	}
	one.interval *= 3
	for i, due := range dues(one, 100) {
		// Each gap is rounded down to a nanosecond, so i gaps differ by at most 3i.
		if d := due - 3*dues(schedule{arrivals: arrivals{how: poisson, seed: 1}, interval: time.Millisecond}, 100)[i]; d < 0 || d > datasets.Instant(3*i) {
			t.Fatalf("attempt %d: three times the interval moved its due time by %d ns", i, d)
		}
	}
	if want := "poisson:interval=1ms,seed=2"; two.String() != want {
		t.Errorf("got %q, want %q", two, want)
	}
}
