package stamp

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// socket is a descriptor that the poller of the runtime does not know of.
type socket struct {
	fd     int
	v6     bool
	kernel bool         // arrivals are stamped
	life   sync.RWMutex // held for writing to close fd, for reading by whoever uses it
	closed atomic.Bool

	until   time.Time // reads end; zero is never
	in, out vector
	sending sync.Mutex // guards out
	zones   zones
}

// take makes the socket of net one of ours.
func (c *Conn) take(udp *net.UDPConn) error {
	defer udp.Close()
	raw, err := udp.SyscallConn()
	if err != nil {
		return err
	}
	c.fd = -1
	if e := raw.Control(func(fd uintptr) { c.fd, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); e != nil {
		err = e
	}
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	own, err := unix.Getsockname(c.fd)
	_, c.v6 = own.(*unix.SockaddrInet6)
	if err != nil {
		return errors.Join(os.NewSyscallError("getsockname", err), unix.Close(c.fd))
	}
	c.prepare()
	return nil
}

// prepare asks the kernel for arrival stamps in nanoseconds, for the count of
// dropped packets and for room to keep what nobody reads yet. What it refuses,
// the socket does without.
func (c *Conn) prepare() {
	for _, o := range []struct{ option, value int }{
		{unix.SO_RCVBUF, buffer},
		{unix.SO_SNDBUF, buffer},
		{unix.SO_RCVBUFFORCE, buffer}, // beyond net.core.rmem_max only with CAP_NET_ADMIN
		{unix.SO_SNDBUFFORCE, buffer},
		{unix.SO_RXQ_OVFL, 1},
	} {
		_ = c.set(o.option, o.value)
	}
	c.kernel = c.setNewer(unix.SO_TIMESTAMPNS_NEW, unix.SO_TIMESTAMPNS_OLD, 1) == nil
}

func (s *socket) set(option, value int) error {
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, option, value))
}

// setNewer sets the newer of two options or, before Linux 5.1, the older. The newer has
// 64-bit seconds everywhere.
func (s *socket) setNewer(newer, older, value int) error {
	err := s.set(newer, value)
	if err != nil {
		err = s.set(older, value)
	}
	return err
}

// use keeps the descriptor from being closed until life is unlocked.
func (s *socket) use() error {
	s.life.RLock()
	if s.closed.Load() {
		s.life.RUnlock()
		return net.ErrClosed
	}
	return nil
}

func (c *Conn) receive(in []Message) (int, error) {
	if err := c.use(); err != nil {
		return 0, err
	}
	defer c.life.RUnlock()
	for {
		n, errno := c.in.receive(c.fd, in, unix.MSG_DONTWAIT)
		now := time.Now()
		switch {
		case c.closed.Load(): // what is shut down looks like an empty datagram
			return 0, net.ErrClosed
		case errno == 0:
			for i := range in[:n] {
				c.arrived(&in[i].Arrival, i, now)
			}
			return n, nil
		case errno == unix.EINTR:
			continue
		case errno != unix.EAGAIN:
			return 0, os.NewSyscallError("recvmmsg", errno)
		}
		if err := c.wait(unix.POLLIN, c.until); err != nil {
			return 0, err
		}
	}
}

// arrived fills in what is known of message i of those just read.
func (c *Conn) arrived(a *Arrival, i int, now time.Time) {
	h := &c.in.headers[i]
	a.N = min(int(h.n), int(c.in.buffers[i].Len)) // if too long, n may be what it was
	a.Truncated = h.Flags&unix.MSG_TRUNC != 0
	a.From = c.in.from(i, &c.zones)
	m := parseControl(c.in.control(i))
	a.Dropped, a.TTL = m.dropped, m.ttl
	a.arrived(now, m.unixNanos, m.stamped)
	if c.source == datasets.Hardware && m.hard != 0 {
		a.Wall = datasets.NewStamp(m.hard, datasets.Local, datasets.Hardware)
	}
}

// WriteTo sends b to an address; the socket must not be connected, or the address be zero.
func (c *Conn) WriteTo(b []byte, to netip.AddrPort) (int, error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.out.single[0] = Message{Buf: b, To: to}
	for {
		_, err := c.transmitLocked(c.out.single[:])
		if !errors.Is(err, unix.EAGAIN) {
			return len(b), err
		}
		if err := c.await(unix.POLLOUT); err != nil {
			return 0, err
		}
	}
}

func (c *Conn) await(event int16) error {
	if err := c.use(); err != nil {
		return err
	}
	defer c.life.RUnlock()
	return c.wait(event, time.Time{})
}

func (c *Conn) transmit(out []Message) (int, error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.transmitLocked(out)
}

func (c *Conn) transmitLocked(out []Message) (int, error) {
	if err := c.use(); err != nil {
		return 0, err
	}
	defer c.life.RUnlock()
	for {
		if c.Before != nil {
			c.Before()
		}
		n, errno := c.out.transmit(c.fd, out, c.v6)
		switch errno {
		case 0:
			if n < len(out) && c.hasRoom() {
				return n, ErrStopped
			}
			return n, nil
		case unix.EINTR:
		default:
			return 0, os.NewSyscallError("sendmmsg", errno)
		}
	}
}

// wait returns when the socket is ready for an event, or has something to tell. Stamps of
// departures that come meanwhile are taken from the kernel: while one is there it lets
// nobody wait.
func (c *Conn) wait(event int16, until time.Time) error {
	for {
		got, err := c.poll(event, until)
		switch {
		case c.closed.Load():
			return net.ErrClosed
		case err != nil:
			return err
		case got == unix.POLLERR && c.departures != nil && c.departures.drain() && event != 0:
		case got != 0:
			return nil
		}
	}
}

// longestPoll is how long one call waits at most: 32-bit machines have 32-bit seconds.
const longestPoll = time.Hour

// poll waits once, and returns 0 for nothing. It is not unix.Ppoll, which allocates.
func (s *socket) poll(event int16, until time.Time) (got int16, err error) {
	left := longestPoll
	if !until.IsZero() {
		if left = min(left, time.Until(until)); left <= 0 {
			return 0, os.ErrDeadlineExceeded
		}
	}
	got, errno := s.ready(event, left)
	if errno != 0 && errno != unix.EINTR {
		return 0, os.NewSyscallError("ppoll", errno)
	}
	return got, nil
}

// ready returns what the socket is ready for, within a time.
func (s *socket) ready(event int16, within time.Duration) (int16, unix.Errno) {
	fd, timeout := unix.PollFd{Fd: int32(s.fd), Events: event}, unix.NsecToTimespec(int64(within))
	_, _, errno := unix.Syscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fd)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
	return fd.Revents, errno
}

// hasRoom reports whether half of what may wait to be sent is free: a full socket is far
// from that.
func (s *socket) hasRoom() bool {
	got, _ := s.ready(unix.POLLOUT, 0)
	return got&unix.POLLOUT != 0
}

// SetReadDeadline ends reads that begin from now on at t; the zero time lets them wait
// for ever. It is called by the goroutine that reads.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.closed.Load() {
		return net.ErrClosed
	}
	c.until = t
	return nil
}

// KernelStamps reports whether the kernel was asked for arrival stamps and agreed.
// Which stamp a packet got is in its Arrival.
func (c *Conn) KernelStamps() bool { return c.kernel }

// Close releases the socket and ends a read in progress.
func (c *Conn) Close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	// It wakes whoever waits; a socket that is not connected says it is not, and does so.
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR)
	c.life.Lock()
	defer c.life.Unlock()
	return os.NewSyscallError("close", unix.Close(c.fd))
}
