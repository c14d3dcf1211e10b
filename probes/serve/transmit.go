package serve

import (
	"flag"
	"math/rand/v2"
	"time"
)

type transmit struct {
	share float64
	early time.Duration
}

func (f transmit) afflict(t *treatment, rng *rand.Rand) {
	if befalls(f.share, rng) {
		t.transmit -= f.early
	}
}

func bindTransmit(fs *flag.FlagSet) func() (Fault, error) {
	s := share(fs, 1)
	by := fs.Duration("by", 3*time.Second, "how much too early it is (`duration`; negative is too late)")
	return func() (Fault, error) { return transmit{*s, *by}, checkShare(*s) }
}
