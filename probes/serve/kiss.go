package serve

import (
	"errors"
	"flag"
	"math/rand/v2"
)

// kiss tells an NTP client to go away, in a code of RFC 5905, figure 13.
type kiss struct {
	share float64
	code  string
}

func (k kiss) afflict(t *treatment, rng *rand.Rand) {
	if befalls(k.share, rng) {
		t.kiss = k.code
	}
}

func bindKiss(fs *flag.FlagSet) func() (Fault, error) {
	s := share(fs, 1)
	code := fs.String("code", "RATE", "one to four letters: RATE, DENY, RSTR (`code`)")
	return func() (Fault, error) {
		if len(*code) < 1 || len(*code) > 4 {
			return nil, errors.New("code must be one to four letters")
		}
		for _, c := range []byte(*code) {
			if c < 'A' || c > 'Z' {
				return nil, errors.New("code must be of the letters A to Z")
			}
		}
		return kiss{*s, *code}, checkShare(*s)
	}
}
