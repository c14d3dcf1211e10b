package gen

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Chain makes uniform numbers, one after the other.
type Chain interface {
	Next() float64 // in (0, 1)
}

// independent numbers have nothing to do with one another.
type independent struct{ r *rand.Rand }

func (c independent) Next() float64 { return inside(c.r.Float64()) }

// inside keeps a number off the ends, at which quantiles may be infinite.
func inside(u float64) float64 { return min(max(u, 0x1p-53), 1-0x1p-53) }

// ar1 is z(t) = ρ·z(t−1) + √(1−ρ²)·ε, standard normal, made uniform by its distribution
// function: the autocorrelation of z at lag k is ρ^k.
type ar1 struct {
	r      *rand.Rand
	rho, z float64
}

func newAR1(r *rand.Rand, rho float64) *ar1 { return &ar1{r, rho, r.NormFloat64()} }

func (c *ar1) step() float64 {
	z := c.z
	c.z = c.rho*c.z + math.Sqrt(1-c.rho*c.rho)*c.r.NormFloat64()
	return z
}

func (c *ar1) Next() float64 { return inside(distuv.UnitNormal.CDF(c.step())) }

// longMemory adds up processes of one step's memory with time constants of 4^i, weighted
// so that the autocorrelation falls as lag^(2H−2) between lags of some 4 and 4^scales:
// what fractional Gaussian noise of the Hurst exponent H has (Granger 1980, aggregation).
type longMemory struct {
	parts   []*ar1
	weights []float64
}

const scales = 10

func newLongMemory(r *rand.Rand, hurst float64) *longMemory {
	c := &longMemory{}
	sum := 0.0
	for i := range scales {
		tau := math.Pow(4, float64(i))
		w := math.Pow(tau, 2*hurst-2) // of the variance
		c.parts = append(c.parts, newAR1(r, math.Exp(-1/tau)))
		c.weights = append(c.weights, w)
		sum += w
	}
	for i := range c.weights {
		c.weights[i] = math.Sqrt(c.weights[i] / sum)
	}
	return c
}

func (c *longMemory) Next() float64 {
	z := 0.0
	for i, p := range c.parts {
		z += c.weights[i] * p.step()
	}
	return inside(distuv.UnitNormal.CDF(z))
}
