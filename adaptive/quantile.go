package adaptive

import (
	"errors"
	"flag"
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// quantile is a windowed quantile, the usual way to turn an acceptable share of
// false timeouts into a timeout. Unanswered attempts rank above every answer: to
// leave them out, or to count them as the timeout, is how such an estimator drives
// itself down.
type quantile struct {
	q, factor float64
	margin    time.Duration
	limits    *limits
	bounds    bounds
	samples   int
	window    window
}

func bindQuantile(fs *flag.FlagSet) func() (Estimator, error) {
	q := spec.Ratio(fs, "q", 0.999, "the `share` of attempts that should be in time")
	length := fs.Duration("window", time.Minute, "how `long` an observation counts")
	factor := fs.Float64("factor", 2, "what the quantile is multiplied `by`")
	margin := fs.Duration("margin", 0, "what is then `added`")
	samples := fs.Int("samples", 30, "the least `number` of observations in the window to go by")
	l := bindLimits(fs, time.Millisecond)
	return func() (Estimator, error) {
		switch {
		case !(*q > 0 && *q < 1):
			return nil, errors.New("q must lie between 0% and 100%")
		case *length <= 0:
			return nil, errors.New("window must be positive")
		case !(*factor > 0) || math.IsInf(*factor, 1):
			return nil, errors.New("factor must be positive")
		case *samples < 1:
			return nil, errors.New("samples must be at least 1")
		}
		if err := l.check(); err != nil {
			return nil, err
		}
		return &quantile{
			q: *q, factor: *factor, margin: *margin, limits: l, bounds: l.bounds(), samples: *samples,
			window: newWindow(*length),
		}, nil
	}
}

func (e *quantile) Timeout(at datasets.Instant) time.Duration {
	e.window.forget(at)
	if e.window.recent.n < e.samples {
		return round(e.limits.first())
	}
	d, ok := e.window.quantile(e.q)
	if !ok {
		return e.limits.max
	}
	return round(e.bounds.clamp(e.factor*float64(d) + float64(e.margin)))
}

func (e *quantile) Observe(o Observation) {
	bucket := silent
	if !o.Censored {
		bucket = bucketOf(o.Latency)
	}
	e.window.add(o.At, bucket)
}
