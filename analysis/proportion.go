package analysis

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/tickmark/tickmark/datasets"
)

// ClopperPearson returns k ÷ n with its exact binomial interval: p is inside unless
// k or fewer, or k or more, successes would have a chance under (1−level)/2
// (Clopper and Pearson, Biometrika 26, 1934). It holds for any n, at the price of
// covering more than asked; it takes the trials as independent.
func ClopperPearson(k, n int64, level float64) Interval {
	out := Interval{N: n, Level: level, Method: "Clopper–Pearson"}
	if n <= 0 {
		out.Warnings = []string{"share: needs at least 1 sample, has 0"}
		return out
	}
	risk := tail(level)
	// The lower limit is the upper one seen from the failures.
	out.Value = datasets.Some(float64(k) / float64(n))
	out.Lo = datasets.Some(1 - upperShare(n-k, n, risk, false))
	out.Hi = datasets.Some(upperShare(k, n, risk, false))
	if k <= n/2 {
		out.Lo = datasets.Some(upperShare(n-k, n, risk, true))
	}
	return out
}

// upperShare returns the p at which k or fewer successes of n have the chance risk,
// or 1−p, which keeps its digits when p is close to one.
func upperShare(k, n int64, risk float64, complement bool) float64 {
	if k >= n || risk == 0 {
		if complement {
			return 0
		}
		return 1
	}
	// Solved for x = log(p/(1−p)): the chance falls smoothly from 1 to 0 over it.
	share := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	excess := func(x float64) (value, slope float64) {
		b := newBinomial(n, share(x))
		return b.below(k+1) - risk, -float64(n-k) * share(x) * b.at(k)
	}
	centre := math.Log((float64(k) + 0.5) / (float64(n-k) + 0.5))
	x := fallingRoot(excess, centre, 1/math.Sqrt(float64(min(k, n-k)+1)))
	if complement {
		return share(-x)
	}
	return share(x)
}

// fallingRoot returns where f, which falls, is zero: Newton's steps, halved into a
// bracket that only ever shrinks.
func fallingRoot(f func(x float64) (value, slope float64), x, step float64) float64 {
	lo, hi := math.Inf(-1), math.Inf(1)
	for range 200 {
		value, slope := f(x)
		if value > 0 {
			lo = x
		} else {
			hi = x
		}
		next := x - value/slope
		switch {
		case math.IsInf(hi, 1):
			next = x + step
			step *= 2
		case math.IsInf(lo, -1):
			next = x - step
			step *= 2
		case !(next > lo && next < hi):
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-x) <= 1e-15*math.Max(1, math.Abs(x)) || next == lo || next == hi {
			return next
		}
		x = next
	}
	return x
}

// Garwood returns the count k with the exact interval of the mean of the Poisson
// law it came from (Garwood, Biometrika 28, 1936): 0 to 3.69 for a count of 0 at
// 95 %. Divide it by the time watched for a rate.
func Garwood(k int64, level float64) Interval {
	out := Interval{Value: datasets.Some(float64(k)), Lo: datasets.Some(0.0), N: k, Level: level, Method: "Garwood"}
	risk := tail(level)
	if k > 0 {
		out.Lo = datasets.Some(mathext.GammaIncRegInv(float64(k), risk))
	}
	out.Hi = datasets.Some(mathext.GammaIncRegInv(float64(k)+1, 1-risk))
	return out
}
