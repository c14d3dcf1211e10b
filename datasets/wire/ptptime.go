package wire

import (
	"fmt"
	"math"
	"time"
)

// PTPTime is a time stamp of PTP: seconds (48 bits) and nanoseconds since 1970, in
// the timescale of the domain, which is mostly TAI and then some 37 s ahead of UTC.
// Zero is none.
type PTPTime struct {
	Seconds uint64
	Nanos   uint32
}

// IsZero tells that the field was not set, as in the Sync of a two-step clock.
func (t PTPTime) IsZero() bool { return t == PTPTime{} }

// UnixNanos returns the time in nanoseconds since 1970 of its own timescale, and false
// if there is none: the field is zero, its nanoseconds are a second or more, or it lies
// beyond 2262, where 64 bits end.
func (t PTPTime) UnixNanos() (int64, bool) {
	if t.IsZero() || int64(t.Nanos) >= second || t.Seconds >= math.MaxInt64/uint64(second) {
		return 0, false
	}
	return int64(t.Seconds)*second + int64(t.Nanos), true
}

// Correction is what a message says to take off: the time it spent in transparent
// clocks, in units of 2⁻¹⁶ ns.
type Correction int64

// noCorrection says that the correction does not fit into its field: "too big",
// IEEE 1588-2019 §13.3.2.9.
const noCorrection Correction = math.MaxInt64

// Duration returns the correction rounded to nanoseconds, halves away from zero, and
// false if it is too big for its field.
func (c Correction) Duration() (time.Duration, bool) {
	const one, half = 1 << 16, 1 << 15
	ns, part := c/one, c%one
	switch {
	case c == noCorrection:
		return 0, false
	case part >= half:
		ns++
	case part <= -half:
		ns--
	}
	return time.Duration(ns), true
}

// plus returns c + d; too big stays so.
func (c Correction) plus(d Correction) Correction {
	sum := c + d
	overflow := (sum > c) != (d > 0)
	if c == noCorrection || d == noCorrection || overflow {
		return noCorrection
	}
	return sum
}

// ClockID is a clock identity, an EUI-64.
type ClockID uint64

// String writes the identity as linuxptp does: 7cfe90.fffe.f950b4.
func (c ClockID) String() string {
	return fmt.Sprintf("%06x.%04x.%06x", uint64(c)>>40, uint64(c)>>24&0xffff, uint64(c)&0xffffff)
}

// PortID identifies a port of a clock.
type PortID struct {
	Clock ClockID
	Port  uint16
}

// String writes the identity as linuxptp does: 7cfe90.fffe.f950b4-1.
func (p PortID) String() string { return fmt.Sprintf("%v-%d", p.Clock, p.Port) }
