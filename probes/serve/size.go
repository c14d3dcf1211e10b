package serve

import (
	"flag"
	"fmt"
	"math/rand/v2"
)

// maxPayload is the most that UDP over IPv4 carries: 65535 − 20 − 8 bytes (RFC 768,
// RFC 791).
const maxPayload = 65507

// size gives a share of the replies another length.
type size struct {
	share  float64
	length int
}

func (f size) afflict(t *treatment, rng *rand.Rand) {
	if befalls(f.share, rng) {
		t.resized, t.length = true, f.length
	}
}

func bindShort(fs *flag.FlagSet) func() (Fault, error) {
	return bindSize(fs, 20, 0, 47, "what is left, in `bytes`; less than an NTP header")
}

func bindOversized(fs *flag.FlagSet) func() (Fault, error) {
	return bindSize(fs, 1024, 97, maxPayload, "its length, in `bytes`; more than either protocol's reply")
}

func bindSize(fs *flag.FlagSet, value, least, most int, usage string) func() (Fault, error) {
	s := share(fs, 1)
	length := fs.Int("size", value, usage)
	return func() (Fault, error) {
		if *length < least || *length > most {
			return nil, fmt.Errorf("size must be between %d and %d", least, most)
		}
		return size{*s, *length}, checkShare(*s)
	}
}
