package stamp

import (
	"time"

	"golang.org/x/sys/unix"
)

// Ask has the kernel stamp what arrives at a socket that is no [Conn] and gives it room
// for what nobody reads. It reports whether the kernel will stamp.
func Ask(fd int) bool {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer) // needs CAP_NET_ADMIN
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, 1) == nil ||
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_OLD, 1) == nil
}

// Arrived returns what is known of n bytes read at now from such a socket with these
// control messages.
func Arrived(n int, controls []byte, now time.Time) Arrival {
	m := parseControl(controls)
	a := Arrival{N: n, Dropped: m.dropped}
	a.arrived(now, m.unixNanos, m.stamped)
	return a
}
