package gen

import (
	"errors"
	"flag"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Latency is a distribution of latencies.
type Latency interface {
	// Quantile returns the u-quantile in seconds, u in (0, 1).
	Quantile(u float64) float64
}

// Latencies lists the distributions.
func Latencies() spec.Table[Latency] {
	return spec.Table[Latency]{
		{Name: "lognormal", Summary: "log-normal: many small causes that multiply", Bind: bindLognormal},
		{Name: "gamma", Summary: "gamma: the sum of several waits", Bind: bindGamma},
		{Name: "pareto", Summary: "log-normal with a Pareto tail: the mean of few is not that of many", Bind: bindPareto},
		{Name: "bimodal", Summary: "two log-normals: a cache that hits or misses", Bind: bindBimodal},
		{Name: "constant", Summary: "always the same", Bind: bindConstant},
	}
}

var errPositive = errors.New("times and shapes must be positive, shares between 0 and 1")

type constant float64

func (c constant) Quantile(float64) float64 { return float64(c) }

func bindConstant(fs *flag.FlagSet) func() (Latency, error) {
	median := fs.Duration("median", 10*time.Millisecond, "the `latency`")
	return func() (Latency, error) {
		if *median <= 0 {
			return nil, errPositive
		}
		return constant(median.Seconds()), nil
	}
}

// lognormal is exp(N(ln median, sigma²)).
type lognormal struct{ median, sigma float64 }

func (l lognormal) Quantile(u float64) float64 {
	return l.median * math.Exp(l.sigma*distuv.UnitNormal.Quantile(u))
}

func (l lognormal) cdf(x float64) float64 {
	return distuv.UnitNormal.CDF(math.Log(x/l.median) / l.sigma)
}

func bindLognormal(fs *flag.FlagSet) func() (Latency, error) {
	median := fs.Duration("median", 10*time.Millisecond, "the median `latency`")
	sigma := fs.Float64("sigma", 0.5, "standard `deviation` of its logarithm")
	return func() (Latency, error) {
		if *median <= 0 || *sigma <= 0 {
			return nil, errPositive
		}
		return lognormal{median.Seconds(), *sigma}, nil
	}
}

type gamma struct{ distuv.Gamma }

func bindGamma(fs *flag.FlagSet) func() (Latency, error) {
	mean := fs.Duration("mean", 10*time.Millisecond, "the mean `latency`")
	shape := fs.Float64("shape", 2, "`how many` waits of equal mean")
	return func() (Latency, error) {
		if *mean <= 0 || *shape <= 0 {
			return nil, errPositive
		}
		return gamma{distuv.Gamma{Alpha: *shape, Beta: *shape / mean.Seconds()}}, nil
	}
}

// pareto is log-normal up to its (1−share)-quantile x0, and from there on
// P(X > x) = share · (x0/x)^index.
type pareto struct {
	body         lognormal
	share, index float64
}

func (p pareto) Quantile(u float64) float64 {
	if u < 1-p.share {
		return p.body.Quantile(u)
	}
	return p.body.Quantile(1-p.share) * math.Pow(p.share/(1-u), 1/p.index)
}

func bindPareto(fs *flag.FlagSet) func() (Latency, error) {
	median := fs.Duration("median", 10*time.Millisecond, "the median `latency`")
	sigma := fs.Float64("sigma", 0.3, "standard `deviation` of the body's logarithm")
	share := fs.Float64("share", 0.01, "`share` of the calls in the tail")
	index := fs.Float64("index", 1.5, "tail `index`: no variance up to 2, no mean up to 1")
	return func() (Latency, error) {
		if *median <= 0 || *sigma <= 0 || *index <= 0 || *share <= 0 || *share >= 1 {
			return nil, errPositive
		}
		return pareto{lognormal{median.Seconds(), *sigma}, *share, *index}, nil
	}
}

// bimodal mixes two log-normals; a quantile of it is found by halving.
type bimodal struct {
	first, second lognormal
	share         float64 // of the second
}

func (b bimodal) Quantile(u float64) float64 {
	lo, hi := min(b.first.Quantile(u), b.second.Quantile(u)), max(b.first.Quantile(u), b.second.Quantile(u))
	for range 60 { // more than a float64 has digits
		mid := (lo + hi) / 2
		if (1-b.share)*b.first.cdf(mid)+b.share*b.second.cdf(mid) < u {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

func bindBimodal(fs *flag.FlagSet) func() (Latency, error) {
	median := fs.Duration("median", time.Millisecond, "the median `latency` of the first")
	second := fs.Duration("second", 50*time.Millisecond, "the median `latency` of the second")
	share := fs.Float64("share", 0.1, "`share` of the second")
	sigma := fs.Float64("sigma", 0.2, "standard `deviation` of the logarithm of either")
	return func() (Latency, error) {
		if *median <= 0 || *second <= 0 || *sigma <= 0 || *share <= 0 || *share >= 1 {
			return nil, errPositive
		}
		return bimodal{lognormal{median.Seconds(), *sigma}, lognormal{second.Seconds(), *sigma}, *share}, nil
	}
}
