package analysis

import (
	"math"
	"slices"
)

// binomial is the law of the number of successes among n trials of probability p:
// mass[i] is the probability of exactly first+i. Counts so far out that the double
// format cannot add them to the rest are left off.
type binomial struct {
	first int64
	mass  []float64
}

// newBinomial walks outwards from the most likely count, each weight a ratio of its
// neighbour, and divides by their sum. No gamma function is called, so that
// n = 1e9 is as accurate as n = 10; the walk is some 18 standard deviations long.
func newBinomial(n int64, p float64) binomial {
	const negligible = 1e-18
	switch {
	case p <= 0:
		return binomial{0, []float64{1}}
	case p >= 1:
		return binomial{n, []float64{1}}
	}
	mode := min(int64(float64(n+1)*p), n)
	odds := p / (1 - p)
	var below []float64
	first := mode
	for w := 1.0; first > 0; first-- {
		w *= float64(first) / float64(n-first+1) / odds
		if w < negligible {
			break
		}
		below = append(below, w)
	}
	slices.Reverse(below)
	mass := append(below, 1)
	for k, w := mode, 1.0; k < n; k++ {
		w *= float64(n-k) / float64(k+1) * odds
		if w < negligible {
			break
		}
		mass = append(mass, w)
	}
	total := 0.0
	for _, w := range mass {
		total += w
	}
	for i := range mass {
		mass[i] /= total
	}
	return binomial{first, mass}
}

// at returns the probability of exactly k.
func (b binomial) at(k int64) float64 {
	if k < b.first || k >= b.first+int64(len(b.mass)) {
		return 0
	}
	return b.mass[k-b.first]
}

// below returns the probability of fewer than k.
func (b binomial) below(k int64) float64 {
	sum := 0.0
	for i := range min(k-b.first, int64(len(b.mass))) {
		sum += b.mass[i]
	}
	return sum
}

// tail returns what is left on one side of an equal-tailed interval.
func tail(level float64) float64 { return math.Max((1-level)/2, 0) }
