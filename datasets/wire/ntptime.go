package wire

import "time"

const (
	// ntpUnix is the Unix epoch in NTP seconds: 70 years with 17 leap days.
	ntpUnix = 2_208_988_800
	// eraSeconds is the length of an NTP era, RFC 5905 §6. The second one begins on
	// 2036-02-07 06:28:16 UTC.
	eraSeconds = 1 << 32

	second = int64(time.Second)
)

// NTPTime is a time as it stands in an NTP packet (RFC 5905 §6): units of 2⁻³² s
// since the beginning of an era, which the packet does not name. Zero is no time at
// all.
type NTPTime uint64

// NTPTimeOf writes nanoseconds since 1970 in NTP's format, in whichever era they lie.
// The first quarter of a nanosecond of an era, which would be zero, is written as the
// second one. NTPTimeOf(n).UnixNanos(n) is n.
func NTPTimeOf(unixNanos int64) NTPTime {
	seconds, nanos := floorSeconds(unixNanos)
	fraction := (uint64(nanos)<<32 + uint64(second)/2) / uint64(second)
	return max(1, NTPTime(uint64(seconds+ntpUnix)<<32|fraction))
}

// IsZero tells that the field was not set: RFC 5905 §7.3 has zero for unknown.
func (t NTPTime) IsZero() bool { return t == 0 }

// UnixNanos returns the time in nanoseconds since 1970, rounded to the nearest, in
// the era that brings it closest to near: the right one if near is right to 68 years.
// Of a time stamp in a packet near is the moment it was received. An era that does
// not fit into 64 bits (before 1677, after 2262) is not chosen.
func (t NTPTime) UnixNanos(near int64) int64 {
	nanos := int64((uint64(uint32(t))*uint64(second) + 1<<31) >> 32)
	return unfold(uint32(t>>32)-ntpUnix%eraSeconds, nanos, near)
}

// unfold returns the time nearest to near whose seconds since 1970 end in these 32 bits,
// and so many nanoseconds more, in nanoseconds since 1970.
func unfold(low uint32, nanos, near int64) int64 {
	reference, _ := floorSeconds(near)
	seconds := reference + int64(int32(low-uint32(reference)))
	switch ns := seconds*second + nanos; {
	case seconds > 0 && ns < 0:
		seconds -= eraSeconds
	case seconds < -1 && ns >= 0:
		seconds += eraSeconds
	}
	return seconds*second + nanos
}

// floorSeconds splits ns into whole seconds and the 0 to 999,999,999 ns above them.
func floorSeconds(ns int64) (seconds, nanos int64) {
	seconds, nanos = ns/second, ns%second
	if nanos < 0 {
		seconds, nanos = seconds-1, nanos+second
	}
	return seconds, nanos
}
