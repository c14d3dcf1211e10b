package serve

import (
	"errors"
	"flag"
	"math/rand/v2"
	"time"
)

func (c *rootClaim) afflict(t *treatment, _ *rand.Rand) { t.root = c }

func bindDispersion(fs *flag.FlagSet) func() (Fault, error) {
	claim := fs.Duration("claim", 0, "the root dispersion (`duration`)")
	delay := fs.Duration("delay", 0, "the root delay (`duration`)")
	return func() (Fault, error) {
		// The fields are seconds in 16.16 bits, RFC 5905, section 6.
		const limit = 1 << 16 * time.Second
		if *claim < 0 || *claim >= limit || *delay < 0 || *delay >= limit {
			return nil, errors.New("claim and delay must be at least 0s and less than 65536s")
		}
		return &rootClaim{delay: *delay, dispersion: *claim}, nil
	}
}
