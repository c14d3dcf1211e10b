package adaptive

import (
	"errors"
	"flag"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

type fixed time.Duration

func bindFixed(fs *flag.FlagSet) func() (Estimator, error) {
	after := fs.Duration("after", time.Second, "the `timeout`")
	return func() (Estimator, error) {
		if *after <= 0 {
			return nil, errors.New("after must be positive")
		}
		return fixed(*after), nil
	}
}

func (f fixed) Timeout(datasets.Instant) time.Duration { return time.Duration(f) }
func (f fixed) Observe(Observation)                    {}
