package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// The example of the statpsych package's documentation: slope 0.5, 95 % interval
// 0.3243243 to 0.75.
func TestTheilSenKnownAnswer(t *testing.T) {
	y := []float64{21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19}
	x := []float64{67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51}
	var points []ratePoint
	for i := range x {
		points = append(points, ratePoint{at: x[i], theta: y[i] * 1e-6})
	}
	got, ok := theilSen(points, .95)
	v, lo, hi := got.Cells()
	if !ok || math.Abs(v.(float64)-.5) > 1e-9 || math.Abs(lo.(float64)-.3243243) > 1e-6 || math.Abs(hi.(float64)-.75) > 1e-9 {
		t.Errorf("slope %v [%v, %v], want 0.5 [0.3243243, 0.75]", v, lo, hi)
	}
}

// ramp is n exchanges a second apart of a clock that loses ppm; their round trips are
// delay and up to ten times as long, all of the rest on the way there.
func ramp(n int, ppm float64, delay time.Duration, rng *rand.Rand) *RateSummary {
	var r RateSummary
	for i := range n {
		at := int64(i) * int64(time.Second)
		theta := int64(ppm * 1e3 * float64(i)) // ns a second
		queue := int64(rng.ExpFloat64() * float64(delay))
		out, back := int64(delay)/2+queue, int64(delay)/2
		r.Add(&datasets.Exchange{
			Sample: datasets.Sample{Outcome: datasets.Replied, Sent: datasets.Instant(at)},
			T1:     datasets.NewStamp(at, datasets.Local, 0), T2: datasets.NewStamp(at+out+theta, datasets.Remote, 0),
			T3: datasets.NewStamp(at+out+theta, datasets.Remote, 0), T4: datasets.NewStamp(at+out+back, datasets.Local, 0),
		})
	}
	return &r
}

// A PHC read within 150 ns that runs 20 ppm off: both methods find it to 0.01 ppm in a
// minute, and the hard limits hold it.
func TestRateOfARamp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, ppm := range []float64{20, -20, 0} {
		for _, s := range ramp(60, ppm, 150*time.Nanosecond, rng).Slopes(.95) {
			v, lo, hi := s.Cells()
			if math.Abs(v.(float64)-ppm) > .01 || lo.(float64) > ppm || hi.(float64) < ppm {
				t.Errorf("%s: %v [%v, %v], want %v", s.Method, v, lo, hi, ppm)
			}
		}
	}
}

// The hard limits hold whatever the queue does, and the statistical ones about as often
// as they say: 95 % of 200 is 190, and fewer than 180 would be one in 10⁸.
func TestRateLimitsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	held := map[string]int{}
	for range 200 {
		for _, s := range ramp(100, 50, time.Millisecond, rng).Slopes(.95) {
			if _, lo, hi := s.Cells(); lo.(float64) <= 50 && 50 <= hi.(float64) {
				held[s.Method]++
			}
		}
	}
	if held["endpoints"] != 200 || held["theil-sen"] < 180 {
		t.Errorf("held in %v of 200", held)
	}
}

// timed is an exchange of a clock that loses ppm, made at a moment that lies within
// elapsed of at: without a round trip, as PRECISE readings of a PHC are.
func timed(at, elapsed, within time.Duration, ppm float64, ahead int64) *datasets.Exchange {
	local := int64(at + within)
	remote := datasets.NewStamp(local+ahead+int64(math.Floor(ppm*1e-6*float64(local))), datasets.Remote, datasets.Hardware)
	return &datasets.Exchange{
		Sample: datasets.Sample{Outcome: datasets.Replied, Sent: datasets.Instant(at), Elapsed: elapsed},
		T1:     datasets.NewStamp(local, datasets.Local, 0), T2: remote, T3: remote, T4: datasets.NewStamp(local, datasets.Local, 0),
	}
}

// Where δ is 0 the hard limits are still not: stamps have steps, and θ is of a moment
// that is known to lie within Elapsed only.
func TestRateLimitsHoldWithoutARoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, ppm := range []float64{100.0037, -100.0037, 0.4} {
		for round := range 200 {
			longest := []time.Duration{1, 20 * time.Millisecond}[round%2]
			var r RateSummary
			for i := range 8 {
				elapsed := time.Duration(rng.Int64N(int64(longest)))
				r.Add(timed(time.Duration(i)*100*time.Millisecond, elapsed, time.Duration(rng.Int64N(int64(elapsed)+1)), ppm, 0))
			}
			s := r.Slopes(.95)
			if _, lo, hi := s[0].Cells(); lo.(float64) > ppm || hi.(float64) < ppm {
				t.Fatalf("%s: [%v, %v], want %v", s[0].Method, lo, hi, ppm)
			}
		}
	}
}

// In PTP the Sync may arrive long before the Delay_Req leaves: by then the clocks have
// drifted, which makes δ too short by the rate × T4−T1, and the limits too narrow if
// nobody minds it.
func TestRateLimitsHoldWhereTheSyncCameFirst(t *testing.T) {
	const ppm, apart, queue = -200.0, 50 * time.Millisecond, 11 * time.Microsecond
	theirs := func(ours time.Duration) datasets.Stamp {
		return datasets.NewStamp(int64(ours)+int64(ppm*1e-6*float64(ours)), datasets.Remote, datasets.Hardware)
	}
	var r RateSummary
	for i, out := range []time.Duration{queue, 0} { // all of it on the way there, then all of it on the way back
		t1 := time.Second * time.Duration(i+1)
		t4 := t1 - apart
		r.Add(&datasets.Exchange{
			Sample: datasets.Sample{Outcome: datasets.Replied, Sent: datasets.Instant(t1), Elapsed: time.Millisecond},
			T1:     datasets.NewStamp(int64(t1), datasets.Local, datasets.Hardware), T2: theirs(t1 + out),
			T3: theirs(t4 - queue + out), T4: datasets.NewStamp(int64(t4), datasets.Local, datasets.Hardware),
		})
	}
	if _, lo, hi := r.Slopes(.95)[0].Cells(); lo.(float64) > ppm || hi.(float64) < ppm {
		t.Errorf("[%v, %v], want %v", lo, hi, ppm)
	}
}

// A PHC that nobody set counts from 1970 and is read as well as any: θ is decades, of
// which a float64 keeps 240 ns.
func TestRateOfAClockThatWasNeverSet(t *testing.T) {
	for _, ahead := range []int64{0, 37e9, -1767225637e9} {
		var r RateSummary
		for i := range 20 {
			r.Add(timed(time.Duration(i)*100*time.Millisecond, 0, 0, 20, ahead))
		}
		for _, s := range r.Slopes(.95) {
			if v, _, _ := s.Cells(); math.Abs(v.(float64)-20) > 1e-4 {
				t.Errorf("%s, ahead by %v: %v, want 20", s.Method, time.Duration(ahead), v)
			}
		}
	}
}

// Of exchanges that took as long as lies between them there are no limits.
func TestRateOfExchangesThatOverlap(t *testing.T) {
	var r RateSummary
	r.Add(timed(0, time.Second, 0, 20, 0))
	r.Add(timed(time.Second, time.Second, 0, 20, 0))
	if v, lo, hi := r.Slopes(.95)[0].Cells(); math.Abs(v.(float64)-20) > 1e-6 || lo != nil || hi != nil {
		t.Errorf("%v [%v, %v], want 20 without limits", v, lo, hi)
	}
}

// Laws: when the trace began and how far apart the clocks are is nothing to the rate;
// the other sign of θ is the other sign of the rate, its limits exchanged; θ, δ and
// limits grow together; and in twice the time half as much is gained.
func TestRateLaws(t *testing.T) {
	plain := ramp(50, 20, time.Microsecond, rand.New(rand.NewPCG(7, 7))).points
	change := func(f func(*ratePoint)) *RateSummary {
		points := slices.Clone(plain)
		for i := range points {
			f(&points[i])
		}
		return &RateSummary{points: points}
	}
	for name, law := range map[string]struct {
		change func(p *ratePoint)
		times  float64
	}{
		"another epoch":  {func(p *ratePoint) { p.at += 1e4 }, 1},
		"another offset": {func(p *ratePoint) { p.theta += 1e-3 }, 1},
		"mirrored":       {func(p *ratePoint) { p.theta = -p.theta }, -1},
		"three times":    {func(p *ratePoint) { p.theta, p.half = 3*p.theta, 3*p.half }, 3},
		"half as fast":   {func(p *ratePoint) { p.at, p.loose = 2*p.at, 2*p.loose }, .5},
	} {
		got := change(law.change).Slopes(.95)
		for i, s := range change(func(*ratePoint) {}).Slopes(.95) {
			v, lo, hi := s.Cells()
			v1, lo1, hi1 := got[i].Cells()
			if law.times < 0 {
				lo, hi = hi, lo
			}
			for _, c := range [][2]any{{v, v1}, {lo, lo1}, {hi, hi1}} {
				if want := law.times * c[0].(float64); math.Abs(want-c[1].(float64)) > 1e-6 {
					t.Errorf("%s, %s: %v, want %v", s.Method, name, c[1], want)
				}
			}
		}
	}
}

// Of more exchanges than are looked at, each stretch of time keeps its best.
func TestRateOfManyIsOfTheBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	r := ramp(20_000, 20, time.Millisecond, rng)
	if n := len(thinned(r.points)); n > mostPoints || n < mostPoints/2 {
		t.Errorf("%d points", n)
	}
	for _, s := range r.Slopes(.95) {
		if v, _, _ := s.Cells(); math.Abs(v.(float64)-20) > .01 {
			t.Errorf("%s: %v", s.Method, v)
		}
	}
}

// Rows of one moment have no rate, and rows out of order the rate of their order in time.
func TestRateOfRowsInNoOrder(t *testing.T) {
	var same RateSummary
	for range 3 * mostPoints {
		same.points = append(same.points, ratePoint{at: 7, theta: 1})
	}
	if got := same.Slopes(.95); len(got) != 0 {
		t.Errorf("%+v of one moment", got)
	}
	r := ramp(3*mostPoints, 20, time.Microsecond, rand.New(rand.NewPCG(5, 5)))
	slices.Reverse(r.points)
	got := r.Slopes(.95)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for _, s := range got {
		if v, _, _ := s.Cells(); math.Abs(v.(float64)-20) > .01 {
			t.Errorf("%s: %v", s.Method, v)
		}
	}
}

func TestRateOfTooFew(t *testing.T) {
	var r RateSummary
	if got := r.Slopes(.95); got != nil {
		t.Errorf("%+v of nothing", got)
	}
	if got := ramp(9, 1, 1000, rand.New(rand.NewPCG(4, 4))).Slopes(.95); len(got) != 1 || got[0].Method != "endpoints" {
		t.Errorf("%+v of nine", got)
	}
}
