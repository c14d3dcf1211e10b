//go:build unix

package probes

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// idle reports whether a connection is open and has nothing to tell that nobody asked
// for: a server that closed it between two calls has not refused the next one.
func idle(conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var silent bool
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		silent = errors.Is(err, unix.EAGAIN)
	})
	return silent && err == nil
}
