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
