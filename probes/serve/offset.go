package serve

import (
	"errors"
	"flag"
	"math"
	"math/rand/v2"
	"time"
)

type offset time.Duration

func (o offset) afflict(t *treatment, _ *rand.Rand) { t.shift += time.Duration(o) }

func bindOffset(fs *flag.FlagSet) func() (Fault, error) {
	by := fs.Duration("by", time.Millisecond, "how far it is ahead (`duration`; negative is behind)")
	return func() (Fault, error) { return offset(*by), nil }
}

// drift is in seconds a second.
type drift float64

func (d drift) afflict(t *treatment, _ *rand.Rand) { t.rate += float64(d) }

func bindDrift(fs *flag.FlagSet) func() (Fault, error) {
	ppm := fs.Float64("ppm", 50, "what it gains since the server's start (`ppm`; negative loses)")
	return func() (Fault, error) {
		// Half as fast again is no clock any more, and NaN fails this too.
		if !(math.Abs(*ppm) <= 500_000) {
			return nil, errors.New("ppm must be between -500000 and 500000")
		}
		return drift(*ppm / 1e6), nil
	}
}
