package serve

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

// loss takes a share of the requests.
type loss float64

func (l loss) afflict(t *treatment, rng *rand.Rand) {
	t.lost = befalls(float64(l), rng) || t.lost
}

func bindLoss(fs *flag.FlagSet) func() (Fault, error) {
	s := share(fs, 0.01)
	return func() (Fault, error) { return loss(*s), checkShare(*s) }
}

type duplicate struct {
	share  float64
	copies int
}

func (d duplicate) afflict(t *treatment, rng *rand.Rand) {
	if befalls(d.share, rng) {
		t.copies += d.copies
	}
}

func bindDuplicate(fs *flag.FlagSet) func() (Fault, error) {
	s := share(fs, 0.01)
	copies := fs.Int("copies", 1, "how `many` come besides the first")
	return func() (Fault, error) {
		if *copies < 1 || *copies > 100 {
			return nil, errors.New("copies must be between 1 and 100")
		}
		return duplicate{*s, *copies}, checkShare(*s)
	}
}

// reorder holds replies back on their way.
type reorder struct {
	share float64
	by    time.Duration
}

func (r reorder) afflict(t *treatment, rng *rand.Rand) {
	if befalls(r.share, rng) {
		t.back += r.by
	}
}

func bindReorder(fs *flag.FlagSet) func() (Fault, error) {
	s := share(fs, 0.01)
	by := fs.Duration("by", 10*time.Millisecond, "how long it is held back (`duration`); later replies overtake it meanwhile")
	return func() (Fault, error) {
		if *by <= 0 || *by > maxDelay {
			return nil, fmt.Errorf("by must be above 0s and at most %s", spec.Duration(maxDelay))
		}
		return reorder{*s, *by}, checkShare(*s)
	}
}
