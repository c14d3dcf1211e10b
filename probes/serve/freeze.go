package serve

import (
	"errors"
	"flag"
	"math/rand/v2"
	"time"
)

// freeze is a schedule of times at which the server does nothing. All times count
// from the server's start, so both listeners of a server freeze together.
type freeze struct {
	after, every, length time.Duration
	times                int // 0 is without end
}

// afflict does nothing to an exchange: the listener itself stops.
func (freeze) afflict(*treatment, *rand.Rand) {}

func bindFreeze(fs *flag.FlagSet) func() (Fault, error) {
	every := fs.Duration("every", 10*time.Second, "from the start of one to the start of the next (`duration`)")
	length := fs.Duration("for", 500*time.Millisecond, "how long each lasts (`duration`)")
	after := fs.Duration("after", time.Second, "from the server's start to the first (`duration`)")
	times := fs.Int("times", 0, "how `many`; 0 is without end")
	return func() (Fault, error) {
		if *length <= 0 || *after < 0 || *times < 0 {
			return nil, errors.New("for must be positive, after and times not negative")
		}
		if *every <= *length {
			return nil, errors.New("every must be longer than for, or nothing is ever answered")
		}
		return freeze{*after, *every, *length, *times}, nil
	}
}

// next returns the first freeze that is not over at now.
func (f freeze) next(now time.Duration) (start, end time.Duration, ok bool) {
	var k time.Duration
	if late := now - f.after - f.length; late >= 0 {
		k = late/f.every + 1
	}
	start = f.after + k*f.every
	return start, start + f.length, f.times == 0 || k < time.Duration(f.times)
}

type freezes []freeze

// next returns the first freeze of all schedules that is not over at now.
func (fs freezes) next(now time.Duration) (start, end time.Duration, ok bool) {
	for _, f := range fs {
		if s, e, more := f.next(now); more && (!ok || s < start) {
			start, end, ok = s, e, true
		}
	}
	return start, end, ok
}

// thawed returns now, or if the server is frozen then, when it no longer is.
func (fs freezes) thawed(now time.Duration) time.Duration {
	// Schedules that take turns may leave no gap at all, hence the bound.
	for range 1000 {
		start, end, ok := fs.next(now)
		if !ok || now < start {
			break
		}
		now = end
	}
	return now
}
