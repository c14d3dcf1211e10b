package probes

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// arrivals says how due times are spaced, whatever their rate. The zero value spaces
// them evenly.
type arrivals struct {
	how   string        // constant, which is also "", poisson, bursts or stepped
	seed  uint64        // of the gaps of poisson
	burst int64         // of bursts: so many are due at once
	steps []float64     // of stepped: what the rate is multiplied by, one after the other
	step  time.Duration // of stepped: how long each lasts; the last one lasts on
}

const (
	constant = "constant" // one interval apart
	poisson  = "poisson"  // exponentially distributed gaps of one interval on average
	bursts   = "bursts"   // several at once, so that the rate is one in an interval
	stepped  = "stepped"  // one interval apart, divided by a factor that changes
)

func bindArrivals(fs *flag.FlagSet) func() (arrivals, error) {
	how := fs.String("arrivals", constant, "due times: `constant`, poisson, bursts or stepped")
	seed := fs.Uint64("seed", 1, "of the `gaps` of poisson arrivals")
	burst := fs.Int64("burst", 10, "`attempts` that are due at once, with arrivals=bursts")
	steps := fs.String("steps", "1/2/4", "`factors` of the rate, one after the other, with arrivals=stepped")
	step := fs.Duration("step", 10*time.Second, "the `time` that each of the steps lasts")
	return func() (arrivals, error) {
		a := arrivals{how: *how, seed: *seed, burst: *burst, step: *step}
		switch a.how {
		case constant, poisson:
			return a, nil
		case bursts:
			if a.burst < 1 {
				return a, fmt.Errorf("burst %d: want 1 or more", a.burst)
			}
			return a, nil
		case stepped:
			if a.step <= 0 {
				return a, errors.New("step must be positive")
			}
			var err error
			a.steps, err = parseSteps(*steps)
			return a, err
		}
		return a, fmt.Errorf("arrivals %q: want constant, poisson, bursts or stepped", *how)
	}
}

func parseSteps(text string) (steps []float64, err error) {
	for part := range strings.SplitSeq(text, "/") {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || !(f > 0 && f <= 1e6) {
			return nil, fmt.Errorf("steps %q: %q: want factors such as 1/2/4", text, part)
		}
		steps = append(steps, f)
	}
	return steps, nil
}

// gap returns the time between attempt n, which is due at an instant since the first,
// and the next.
func (a *arrivals) gap(n int64, due datasets.Instant, interval time.Duration) time.Duration {
	switch a.how {
	case poisson:
		// A generator of its own for each gap makes it a function of seed and n alone.
		r := rand.New(rand.NewPCG(a.seed, uint64(n)))
		return time.Duration(r.ExpFloat64() * float64(interval))
	case bursts:
		if (n+1)%a.burst != 0 {
			return 0
		}
		return time.Duration(saturatingMul(int64(interval), a.burst))
	case stepped:
		i := min(int64(due)/int64(a.step), int64(len(a.steps)-1))
		return max(1, time.Duration(float64(interval)/a.steps[i]))
	}
	return interval
}

func saturatingMul(a, b int64) int64 {
	if p := a * b; a == 0 || p/a == b {
		return p
	}
	return 1<<63 - 1
}

// options writes what there is to say beside the rate, each with a comma before it.
func (a *arrivals) options() string {
	switch a.how {
	case poisson:
		return fmt.Sprintf(",seed=%d", a.seed)
	case bursts:
		return fmt.Sprintf(",burst=%d", a.burst)
	case stepped:
		var factors []string
		for _, f := range a.steps {
			factors = append(factors, strconv.FormatFloat(f, 'g', -1, 64))
		}
		return fmt.Sprintf(",steps=%s,step=%s", strings.Join(factors, "/"), spec.Duration(a.step))
	}
	return ""
}

func (a *arrivals) name() string {
	if a.how == "" {
		return constant
	}
	return a.how
}
