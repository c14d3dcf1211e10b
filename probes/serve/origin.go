package serve

import (
	"flag"
	"math/rand/v2"
)

// origin is the share of replies with a false origin stamp or, of the echo, with
// a false session.
type origin float64

func (o origin) afflict(t *treatment, rng *rand.Rand) {
	t.forged = befalls(float64(o), rng) || t.forged
}

func bindOrigin(fs *flag.FlagSet) func() (Fault, error) {
	s := share(fs, 1)
	return func() (Fault, error) { return origin(*s), checkShare(*s) }
}
