package wire

import (
	"math"
	"math/bits"
	"time"
)

// STAMPTime is a time as it stands in a STAMP packet: an NTPTime, or seconds and
// nanoseconds since 1970 in 32 bits each, the truncated PTPv2 format of RFC 8186 §2.
// The ErrorEstimate beside it says which, and neither has an era. Zero is no time.
type STAMPTime uint64

// ErrorEstimate says how good the times of a packet are: S, whether their clock is
// synchronised to UTC, Z, in which format they are, and how far off they may be, as
// multiplier · 2^(scale−32) s (RFC 4656 §4.1.2, RFC 8186 §2.3).
type ErrorEstimate uint16

const (
	synchronisedFlag = 1 << 15
	ptpFlag          = 1 << 14
	scaleShift       = 8
	scaleMask        = 1<<6 - 1
)

// ErrorEstimateOf rounds up, and has a multiplier of at least 1: with 0 a packet is to
// be taken for corrupt.
func ErrorEstimateOf(off time.Duration, synchronised, ptp bool) ErrorEstimate {
	const most = second << 31 // 68 years
	high, low := bits.Mul64(uint64(max(0, min(int64(off), most))), 1<<32)
	units, rest := bits.Div64(high, low, uint64(second))
	if rest > 0 {
		units++
	}
	units = max(1, units)
	scale := max(0, bits.Len64(units)-8)
	multiplier := (units + 1<<scale - 1) >> scale
	if multiplier == 1<<8 {
		scale, multiplier = scale+1, 1<<7
	}
	e := ErrorEstimate(scale<<scaleShift | int(multiplier))
	if synchronised {
		e |= synchronisedFlag
	}
	if ptp {
		e |= ptpFlag
	}
	return e
}

// Synchronised tells that the clock claims to be.
func (e ErrorEstimate) Synchronised() bool { return e&synchronisedFlag != 0 }

// PTP tells that times are in the truncated PTPv2 format.
func (e ErrorEstimate) PTP() bool { return e&ptpFlag != 0 }

// Duration returns how far off times may be, rounded up, and false for a multiplier of
// 0, which says that nobody knows. What is longer than a Duration becomes the longest.
func (e ErrorEstimate) Duration() (time.Duration, bool) {
	multiplier, scale := uint64(e&0xff), int(e>>scaleShift&scaleMask)
	high, low := bits.Mul64(multiplier*uint64(second), 1<<scale) // units of 2⁻³² ns
	if high >= 1<<31 {
		return math.MaxInt64, true
	}
	low, carry := bits.Add64(low, 1<<32-1, 0)
	return time.Duration(min((high+carry)<<32|low>>32, math.MaxInt64)), multiplier != 0
}

// Time writes nanoseconds since 1970 in the format that e says.
func (e ErrorEstimate) Time(unixNanos int64) STAMPTime {
	if !e.PTP() {
		return STAMPTime(NTPTimeOf(unixNanos))
	}
	seconds, nanos := floorSeconds(unixNanos)
	return max(1, STAMPTime(uint32(seconds))<<32|STAMPTime(nanos))
}

// UnixNanos returns a time in nanoseconds since 1970, in the era nearest to near; see
// [NTPTime.UnixNanos]. It is false for none, and for one of a billion nanoseconds or more.
func (e ErrorEstimate) UnixNanos(t STAMPTime, near int64) (int64, bool) {
	switch nanos := int64(uint32(t)); {
	case t == 0:
		return 0, false
	case !e.PTP():
		return NTPTime(t).UnixNanos(near), true
	default:
		return unfold(uint32(t>>32), nanos, near), nanos < second
	}
}
