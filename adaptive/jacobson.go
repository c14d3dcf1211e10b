package adaptive

import (
	"errors"
	"flag"
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// jacobson is the retransmission timer of RFC 6298 in floats: whole-number
// arithmetic drifts low by milliseconds within a few samples.
//
// Karn's rule, that a retransmitted attempt gives no sample (§3), is there because
// TCP cannot tell which transmission was acknowledged. Our attempts have ids, so
// every answer is a sample.
type jacobson struct {
	k, granularity float64
	bounds         bounds
	backoff        bool

	smoothed, deviation float64 // SRTT and RTTVAR, ns
	measured            bool
	timeout             float64 // ns
}

func bindJacobson(fs *flag.FlagSet) func() (Estimator, error) {
	k := fs.Float64("k", 4, "mean `deviations` above the mean")
	g := fs.Duration("g", time.Millisecond, "clock `granularity`: the least allowance for deviation")
	backoff := fs.Bool("backoff", true, "double after an attempt without an answer, until there is one (§5.5)")
	l := bindLimits(fs, 0)
	fs.Lookup("min").Usage = "the `least` timeout; RFC 6298 says 1s, Linux takes 200ms"
	return func() (Estimator, error) {
		if !(*k > 0) || math.IsInf(*k, 1) {
			return nil, errors.New("k must be positive")
		}
		if *g < 0 {
			return nil, errors.New("g must not be negative")
		}
		if err := l.check(); err != nil {
			return nil, err
		}
		return &jacobson{
			k: *k, granularity: float64(*g), bounds: l.bounds(), backoff: *backoff,
			timeout: l.first(),
		}, nil
	}
}

func (j *jacobson) Timeout(datasets.Instant) time.Duration { return round(j.timeout) }

func (j *jacobson) Observe(o Observation) {
	if o.Censored {
		if j.backoff {
			j.timeout = j.bounds.clamp(2 * j.timeout)
		}
		return
	}
	const alpha, beta = 1.0 / 8, 1.0 / 4 // §2.3
	r := float64(o.Latency)
	if j.measured {
		// The deviation is taken from the old mean: its update comes first (§2.3).
		j.deviation += beta * (math.Abs(j.smoothed-r) - j.deviation)
		j.smoothed += alpha * (r - j.smoothed)
		if j.deviation < 1e-9 {
			j.deviation = 0 // else it sinks among the subnormal numbers, which are slow
		}
	} else {
		j.smoothed, j.deviation, j.measured = r, r/2, true // §2.2
	}
	j.timeout = j.bounds.clamp(j.smoothed + max(j.granularity, j.k*j.deviation))
}
