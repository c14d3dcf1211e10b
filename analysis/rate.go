package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// mostPoints is how many exchanges a rate is made of: all pairs of them are looked at.
// Of more, each stretch of time is stood for by its exchange with the shortest round
// trip.
const mostPoints = 1000

// RateSummary tells at which rate θ grows: how much the local clock loses against the
// other, in ppm. It holds 32 bytes an exchange.
type RateSummary struct {
	points []ratePoint
	first  time.Duration // θ of the first
}

// ratePoint is an exchange in seconds. A clock that was never set is decades off, where
// a float64 takes steps of 240 ns: so θ is counted from the first.
type ratePoint struct {
	at, theta float64
	half      float64 // of δ, and what the stamps' steps of 1 ns add to it
	loose     float64 // × the rate: what θ may be off because its moment is not quite known
}

// stampSteps is what four stamps in whole nanoseconds, and the half of their sum, can
// do to θ.
const stampSteps = 2e-9

// Slope is dθ/dt by one method, in ppm: positive when the local clock loses.
type Slope struct {
	Method string
	Interval
}

// Add takes one exchange.
func (r *RateSummary) Add(e *datasets.Exchange) {
	theta, complete := e.Offset()
	delta, _ := e.Delay()
	if !e.Outcome.Answered() || !complete || delta < 0 {
		return
	}
	if len(r.points) == 0 {
		r.first = theta
	}
	between, _ := e.WallElapsed()
	r.points = append(r.points, ratePoint{
		at: float64(e.Sent.Add(e.Elapsed/2)) * 1e-9, theta: (theta - r.first).Seconds(), half: delta.Seconds()/2 + stampSteps,
		// θ is of the middle between T1 and T4, which is as far from the middle between
		// Sent and its answer as the halves of the two together: in PTP, T4 may be before
		// T1. And a rate of r makes δ too short by r·(T4−T1).
		loose: e.Elapsed.Seconds()/2 + between.Abs().Seconds(),
	})
}

// Slopes returns the rate by each method that the exchanges suffice for.
func (r *RateSummary) Slopes(level float64) []Slope {
	slices.SortStableFunc(r.points, func(a, b ratePoint) int { return cmp.Compare(a.at, b.at) })
	points := thinned(r.points)
	var slopes []Slope
	if e, ok := endpoints(points); ok {
		slopes = append(slopes, e)
	}
	if t, ok := theilSen(points, level); ok {
		slopes = append(slopes, t)
	}
	return slopes
}

// thinned leaves mostPoints of the points, which are in order of time.
func thinned(points []ratePoint) []ratePoint {
	if len(points) <= mostPoints {
		return points
	}
	first, span := points[0].at, points[len(points)-1].at-points[0].at
	if span <= 0 {
		return nil // all at one moment: there is no rate
	}
	out := make([]ratePoint, 0, mostPoints)
	stretch := -1
	for _, p := range points {
		s := min(int((p.at-first)/span*mostPoints), mostPoints-1)
		switch last := len(out) - 1; {
		case s > stretch:
			out, stretch = append(out, p), s
		case p.half < out[last].half:
			out[last] = p
		}
	}
	return out
}

// endpoints is the slope between the best exchange of the first quarter and that of
// the last. Its limits are hard, if neither clock stepped and the other clock's rate
// was constant: each end is off by half its round trip at most, and by what the rate,
// which is no greater than these limits, makes of its loose moment. They are absent if
// the exchanges took longer than what lies between them.
func endpoints(points []ratePoint) (Slope, bool) {
	if len(points) < 2 {
		return Slope{}, false
	}
	first, last := points[0].at, points[len(points)-1].at
	quarter := (last - first) / 4
	a, b := points[0], points[len(points)-1]
	for _, p := range points {
		if p.at <= first+quarter && p.half < a.half {
			a = p
		}
		if p.at >= last-quarter && p.half < b.half {
			b = p
		}
	}
	span := b.at - a.at
	if span <= 0 {
		return Slope{}, false
	}
	slope, bound, loose := (b.theta-a.theta)/span*1e6, (a.half+b.half)/span*1e6, (a.loose+b.loose)/span
	i := Interval{Value: datasets.Some(slope), N: 2, Level: 1, Method: "half round trips"}
	if loose < 1 {
		greatest := (math.Abs(slope) + bound) / (1 - loose)
		bound += greatest * loose
		i.Lo, i.Hi = datasets.Some(slope-bound), datasets.Some(slope+bound)
	}
	return Slope{"endpoints", i}, true
}

// leastPoints is how many points a Theil–Sen slope is given an interval from.
const leastPoints = 10

// theilSen is the median of the slopes of all pairs, with the interval of Sen 1968:
// by the normal approximation of Kendall's S, without ties.
func theilSen(points []ratePoint, level float64) (Slope, bool) {
	if len(points) < leastPoints {
		return Slope{}, false
	}
	slopes := make([]float64, 0, len(points)*(len(points)-1)/2)
	for i, a := range points {
		for _, b := range points[i+1:] {
			if b.at != a.at {
				slopes = append(slopes, (b.theta-a.theta)/(b.at-a.at)*1e6)
			}
		}
	}
	if len(slopes) == 0 {
		return Slope{}, false
	}
	slices.Sort(slopes)
	n := float64(len(points))
	spread := normalQuantile(0.5+level/2) * math.Sqrt(n*(n-1)*(2*n+5)/18)
	middle := float64(len(slopes))
	lo, hi := int(math.Round((middle-spread)/2)), int(math.Round((middle+spread)/2))+1 // counted from 1
	i := Interval{Value: datasets.Some(medianOf(slopes)), N: int64(len(points)), Level: level, Method: "Sen 1968"}
	if lo >= 1 && hi <= len(slopes) {
		i.Lo, i.Hi = datasets.Some(slopes[lo-1]), datasets.Some(slopes[hi-1])
	}
	return Slope{"theil-sen", i}, true
}

// medianOf sorted values.
func medianOf(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// normalQuantile is the inverse of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
