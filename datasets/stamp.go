package datasets

import (
	"math"
	"time"
)

// Source tells who took a stamp.
type Source uint8

// The sources of a stamp, from the farthest from the wire to the nearest.
const (
	User Source = iota
	Kernel
	Hardware
	sources
)

func sourceNames() [sources]string { return [sources]string{"user", "kernel", "hardware"} }

func (s Source) String() string {
	if s < sources {
		return sourceNames()[s]
	}
	return "source?"
}

// ClockID tells whose clock a stamp was read from.
type ClockID uint8

// The clocks of an exchange. Stamps are only ever subtracted by Exchange, which
// knows what a difference between two clocks means.
const (
	Local ClockID = iota
	Remote
)

// Stamp is one reading of a wall clock; the zero Stamp is absent.
type Stamp struct {
	unixNanos int64
	clock     ClockID
	source    Source
	present   bool
}

// NewStamp returns a reading of clock, in nanoseconds since 1970, taken by source.
func NewStamp(unixNanos int64, clock ClockID, source Source) Stamp {
	return Stamp{unixNanos, clock, source, true}
}

// StampTime is NewStamp of a time.Time.
func StampTime(t time.Time, clock ClockID, source Source) Stamp {
	return NewStamp(t.UnixNano(), clock, source)
}

// Source returns who took the stamp.
func (s Stamp) Source() Source { return s.source }

// UnixNanos returns the reading, and false if there is none.
func (s Stamp) UnixNanos() (int64, bool) { return s.unixNanos, s.present }

// sub returns s − u in nanoseconds, saturating, and false if either is absent.
func (s Stamp) sub(u Stamp) (time.Duration, bool) {
	if !s.present || !u.present {
		return 0, false
	}
	return saturatingSub(s.unixNanos, u.unixNanos), true
}

func saturatingSub(a, b int64) time.Duration {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b >= 0 && d >= 0:
		return math.MinInt64
	}
	return time.Duration(d)
}
