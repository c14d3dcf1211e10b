package probes

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// holdPort binds a second socket, which is never read, to the local port of first.
// Between the queries it keeps the port from other users and takes what comes late;
// a query's own socket, being connected, is preferred to it. Its arrival stamps keep
// the kernel stamping: switched on anew for each query, that would begin late.
//
// Where this fails, the port is free between two queries.
func (p *ntpPath) holdPort(ctx context.Context, first *net.UDPConn) {
	raw, err := first.SyscallConn()
	if err != nil || sharePort("", "", raw) != nil {
		return
	}
	l := net.ListenConfig{Control: sharePort}
	hold, err := l.ListenPacket(ctx, "udp", p.local.String())
	if err != nil {
		return
	}
	p.hold = hold
	if raw, err := hold.(*net.UDPConn).SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			if unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) == nil {
				p.stamps = datasets.Kernel
			}
		})
	}
}

// sharePort lets sockets of the same user bind the same port.
func sharePort(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	})
	if err != nil {
		return err
	}
	return failed
}

// arrivalSource tells who stamps what arrives at the socket: the library does not
// say whether it got the kernel to.
func arrivalSource(c *net.UDPConn) datasets.Source {
	raw, err := c.SyscallConn()
	if err != nil {
		return datasets.User
	}
	source := datasets.User
	_ = raw.Control(func(fd uintptr) {
		if on, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS); err == nil && on != 0 {
			source = datasets.Kernel
		}
	})
	return source
}
