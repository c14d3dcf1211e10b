package stamp

import (
	"encoding/binary"
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// control is what the control messages of one packet say.
type control struct {
	unixNanos int64 // arrival, by the kernel
	stamped   bool
	dropped   uint32 // cumulative
	hard      int64  // arrival, by the NIC's own clock; 0 if not stamped
	ttl       uint8  // 0 if not told
}

// parseControl reads a sequence of control messages. Unknown ones are skipped, and
// what follows a malformed one is ignored.
func parseControl(b []byte) control {
	var c control
	for len(b) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(b)
		if err != nil {
			break
		}
		b = rest
		if h.Level != unix.SOL_SOCKET {
			c.ttl = max(c.ttl, parseTTL(&h, data))
			continue
		}
		switch h.Type {
		case unix.SO_TIMESTAMPNS_NEW, unix.SO_TIMESTAMPNS_OLD:
			c.unixNanos, c.stamped = parseTimespec(data)
		case unix.SO_TIMESTAMPING_NEW, unix.SO_TIMESTAMPING_OLD:
			c.unixNanos, c.hard = parseStamps(data)
			c.stamped = c.unixNanos != 0
		case unix.SO_RXQ_OVFL:
			if len(data) >= 4 {
				c.dropped = binary.NativeEndian.Uint32(data)
			}
		}
	}
	return c
}

// parseTimespec reads seconds and nanoseconds, 64 bits each or, from the older
// option on a 32-bit machine, 32 bits each. It is false for what is no such time.
func parseTimespec(b []byte) (unixNanos int64, ok bool) {
	var seconds, nanos int64
	switch len(b) {
	case 16:
		seconds, nanos = int64(binary.NativeEndian.Uint64(b)), int64(binary.NativeEndian.Uint64(b[8:]))
	case 8:
		seconds, nanos = int64(int32(binary.NativeEndian.Uint32(b))), int64(int32(binary.NativeEndian.Uint32(b[4:])))
	default:
		return 0, false
	}
	const second = int64(time.Second)
	if nanos < 0 || nanos >= second || seconds < math.MinInt64/second || seconds >= math.MaxInt64/second {
		return 0, false
	}
	return seconds*second + nanos, true
}
