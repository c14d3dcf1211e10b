package adaptive

import (
	"errors"
	"flag"
	"time"
)

// limits are what every adaptive timeout is held to, and where it starts.
type limits struct{ min, max, initial time.Duration }

func bindLimits(fs *flag.FlagSet, least time.Duration) *limits {
	l := &limits{}
	fs.DurationVar(&l.min, "min", least, "the `least` timeout")
	fs.DurationVar(&l.max, "max", time.Minute, "the `greatest` timeout, taken too when the observations set none")
	fs.DurationVar(&l.initial, "initial", time.Second, "the `timeout` before enough was observed, within min and max")
	return l
}

func (l *limits) check() error {
	switch {
	case l.min < 0:
		return errors.New("min must not be negative")
	case l.max <= 0 || l.max < l.min:
		return errors.New("max must be positive and at least min")
	case l.initial <= 0:
		return errors.New("initial must be positive")
	}
	return nil
}

// first returns the timeout before anything was observed, in nanoseconds.
func (l *limits) first() float64 { return l.bounds().clamp(float64(l.initial)) }

// bounds are the limits in nanoseconds, as an estimator needs them each time.
type bounds struct{ least, greatest float64 }

func (l *limits) bounds() bounds { return bounds{float64(l.min), float64(l.max)} }

// clamp holds a timeout to the limits. The built-in min and max would look for NaN.
func (b bounds) clamp(ns float64) float64 {
	if ns < b.least {
		return b.least
	}
	if ns > b.greatest {
		return b.greatest
	}
	return ns
}

func round(ns float64) time.Duration { return time.Duration(ns + 0.5) }
