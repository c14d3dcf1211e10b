package serve

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

// maxDelay is where the tail of a distribution is cut off.
const maxDelay = time.Minute

// delay lengthens the path by a draw for each direction.
type delay struct {
	out, back time.Duration
	draw      func(centre float64, rng *rand.Rand) float64
}

func (d delay) afflict(t *treatment, rng *rand.Rand) {
	t.out += d.length(d.out, rng)
	t.back += d.length(d.back, rng)
}

func (d delay) length(centre time.Duration, rng *rand.Rand) time.Duration {
	return time.Duration(min(d.draw(float64(centre), rng), float64(maxDelay)))
}

func bindDelay(fs *flag.FlagSet) func() (Fault, error) {
	out := fs.Duration("out", 0, "of the request (`duration`: the mean, of lognormal the median)")
	back := fs.Duration("back", 0, "of the reply, likewise (`duration`)")
	dist := fs.String("dist", "fixed", "the `distribution`: fixed, uniform (0 to twice the mean), exp or lognormal")
	sigma := fs.Float64("sigma", 0.5, "standard deviation of a lognormal's logarithm (`number`)")
	return func() (Fault, error) {
		if *out < 0 || *back < 0 || *out > maxDelay || *back > maxDelay {
			return nil, fmt.Errorf("out and back must be between 0s and %s", spec.Duration(maxDelay))
		}
		if !(*sigma >= 0 && *sigma <= 10) {
			return nil, errors.New("sigma must be between 0 and 10")
		}
		draw, ok := distribution(*dist, *sigma)
		if !ok {
			return nil, fmt.Errorf("dist %q: want fixed, uniform, exp or lognormal", *dist)
		}
		return delay{*out, *back, draw}, nil
	}
}

// distribution returns how to draw from the named one.
func distribution(name string, sigma float64) (draw func(centre float64, rng *rand.Rand) float64, ok bool) {
	switch name {
	case "fixed":
		return func(c float64, _ *rand.Rand) float64 { return c }, true
	case "uniform":
		return func(c float64, rng *rand.Rand) float64 { return 2 * c * rng.Float64() }, true
	case "exp":
		return func(c float64, rng *rand.Rand) float64 { return c * rng.ExpFloat64() }, true
	case "lognormal":
		return func(c float64, rng *rand.Rand) float64 { return c * math.Exp(sigma*rng.NormFloat64()) }, true
	}
	return nil, false
}
