package serve

import (
	"math"
	"math/bits"
	"time"
)

// ntpUnix is how many seconds after the NTP epoch, 1900, the Unix epoch lies: 70
// years with 17 leap days.
const ntpUnix = (70*365 + 17) * 86400

// ntpTime returns nanoseconds since 1970 as an NTP timestamp: seconds since 1900
// modulo 2³², 32 bits, and their fraction, 32 bits (RFC 5905, section 6). The era is
// not in it, so it goes on past 2036. It is rounded up, by less than 0.24 ns, so that
// a reader who cuts the fraction off to nanoseconds gets back what was put in.
func ntpTime(unixNanos int64) uint64 {
	const second = int64(time.Second)
	seconds, nanos := unixNanos/second, unixNanos%second
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+second
	}
	fraction := (uint64(nanos)<<32 + uint64(second) - 1) / uint64(second)
	return uint64(uint32(seconds+ntpUnix))<<32 | fraction
}

// receiveTime and transmitTime return T2 and T3. An interleaved client sends T2 back, a
// basic one T3, and which it is only the number tells: so every T2 is odd and every T3
// even. A nanosecond has 4.29 numbers, so each is still of its own.
func receiveTime(unixNanos int64) uint64  { return ntpTime(unixNanos) | 1 }
func transmitTime(unixNanos int64) uint64 { return (ntpTime(unixNanos) + 1) &^ 1 }

// ntpShort returns a duration in NTP's short format, seconds in 16.16 bits, rounded
// up: a claim may be coarser than the truth, not smaller. What is too long becomes
// the longest there is.
func ntpShort(d time.Duration) uint32 {
	high, low := bits.Mul64(uint64(max(d, 0)), 1<<16)
	low, carry := bits.Add64(low, uint64(time.Second)-1, 0)
	units, _ := bits.Div64(high+carry, low, uint64(time.Second))
	return uint32(min(units, math.MaxUint32))
}

// clockPrecision returns the logarithm to base 2 of the seconds it takes to read the
// wall clock, or of its tick if that is longer (RFC 5905, section 7.3), rounded up.
func clockPrecision() int8 {
	least := time.Second
	for range 100 {
		first := time.Now()
		next := time.Now()
		// The tick of a coarse clock must pass; Round drops the monotonic reading.
		for !next.Round(0).After(first.Round(0)) && next.Sub(first) < 100*time.Millisecond {
			next = time.Now()
		}
		if step := next.Round(0).Sub(first.Round(0)); step > 0 {
			least = min(least, step)
		}
	}
	return int8(math.Ceil(math.Log2(least.Seconds())))
}

func pow2(exponent int8) float64 { return math.Ldexp(1, int(exponent)) }
