package probes

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/probes/stamp"
)

// icmpSocket sends and receives ICMP messages of one remote host. The poller of the
// runtime does not know of it, which would wake a sender a millisecond late.
type icmpSocket struct {
	kind    string
	stamped bool // the kernel stamps arrivals
	fd      int
	life    sync.RWMutex // held for writing to close fd, for reading by whoever uses it
	closed  atomic.Bool
	until   time.Time // reads end
	control [256]byte
	quote   [icmpHeader]byte
	errors  [256]byte // control messages of the error queue
}

// openICMP opens a datagram socket or, where that is not allowed, a raw one.
func openICMP(remote netip.Addr) (*icmpSocket, error) {
	fd, err := newICMPSocket(remote, unix.SOCK_DGRAM)
	kind := datagramICMP
	if err != nil {
		kind = rawICMP
		if fd, err = newICMPSocket(remote, unix.SOCK_RAW); errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			return nil, errNoPing
		}
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := unix.Connect(fd, sockaddrOf(remote)); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return &icmpSocket{kind: kind, fd: fd, stamped: stamp.Ask(fd)}, nil
}

func newICMPSocket(remote netip.Addr, kind int) (int, error) {
	family, protocol := unix.AF_INET, unix.IPPROTO_ICMP
	if remote.Is6() {
		family, protocol = unix.AF_INET6, unix.IPPROTO_ICMPV6
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return -1, err
	}
	// Errors come with the message they are about.
	if remote.Is6() {
		_ = unix.SetsockoptInt(fd, unix.SOL_IPV6, unix.IPV6_RECVERR, 1)
	} else {
		_ = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_RECVERR, 1)
	}
	if kind == unix.SOCK_RAW {
		onlyReplies(fd, remote.Is6())
	}
	return fd, nil
}

// onlyReplies keeps from a raw socket what it would have to pass over: on loopback, its
// own requests.
func onlyReplies(fd int, v6 bool) {
	if v6 {
		const reply = 129
		var f unix.ICMPv6Filter // a bit that is set blocks
		for i := range f.Data {
			f.Data[i] = ^uint32(0)
		}
		f.Data[reply/32] &^= 1 << (reply % 32)
		_ = unix.SetsockoptICMPv6Filter(fd, unix.SOL_ICMPV6, unix.ICMPV6_FILTER, &f)
		return
	}
	const solRaw, icmpFilter, reply = 255, 1, 0 // linux/socket.h, linux/icmp.h
	blocked := ^uint32(1 << reply)
	_ = unix.SetsockoptInt(fd, solRaw, icmpFilter, int(int32(blocked)))
}

func sockaddrOf(a netip.Addr) unix.Sockaddr {
	if a.Is4() {
		return &unix.SockaddrInet4{Addr: a.As4()}
	}
	to := &unix.SockaddrInet6{Addr: a.As16()}
	if i, err := net.InterfaceByName(a.Zone()); err == nil {
		to.ZoneId = uint32(i.Index)
	} else if n, err := strconv.ParseUint(a.Zone(), 10, 32); err == nil {
		to.ZoneId = uint32(n)
	}
	return to
}

// use keeps the descriptor from being closed until life is unlocked.
func (s *icmpSocket) use() error {
	s.life.RLock()
	if s.closed.Load() {
		s.life.RUnlock()
		return net.ErrClosed
	}
	return nil
}

// send sends a message. An error may tell of an earlier one, which is in the error queue
// too: the reader finds it there.
func (s *icmpSocket) send(b []byte) (err error) {
	if err := s.use(); err != nil {
		return err
	}
	defer s.life.RUnlock()
	for range 3 {
		if _, err = unix.Write(s.fd, b); err == nil {
			return nil
		}
	}
	return os.NewSyscallError("write", err)
}

// receive waits for a message.
func (s *icmpSocket) receive(buf []byte) (stamp.Arrival, error) {
	if err := s.use(); err != nil {
		return stamp.Arrival{}, err
	}
	defer s.life.RUnlock()
	for failures := 0; ; {
		if r := s.refused(); r != nil {
			return stamp.Arrival{}, r
		}
		n, controls, _, _, err := unix.Recvmsg(s.fd, buf, s.control[:], unix.MSG_DONTWAIT)
		now := time.Now()
		if err == nil {
			return stamp.Arrived(n, s.control[:controls], now), nil
		}
		if errors.Is(err, unix.EAGAIN) {
			if !s.wait() {
				return stamp.Arrival{}, os.ErrDeadlineExceeded
			}
		} else if failures++; failures == 3 { // what it is about does not stand in the error queue
			return stamp.Arrival{}, os.NewSyscallError("recvmsg", err)
		}
	}
}

// wait returns true when there is something to read, or an error to be told, and false at
// the deadline.
func (s *icmpSocket) wait() bool {
	left := time.Until(s.until)
	if left <= 0 {
		return false
	}
	timeout := unix.NsecToTimespec(int64(left))
	_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}, &timeout, nil)
	return true
}

// refused takes the next error that a host on the way reported, if there is one.
func (s *icmpSocket) refused() *refusal {
	n, controls, _, _, err := unix.Recvmsg(s.fd, s.quote[:], s.errors[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
	if err != nil {
		return nil
	}
	return parseRefusal(s.quote[:n], s.errors[:controls])
}

// parseRefusal reads a message of the error queue: the beginning of the echo it is
// about and, as a struct sock_extended_err, what happened to it.
func parseRefusal(quote, controls []byte) *refusal {
	const origin, size = 4, 16
	messages, err := unix.ParseSocketControlMessage(controls)
	if err != nil || len(quote) < icmpHeader {
		return nil
	}
	for _, m := range messages {
		about := m.Header.Level == unix.SOL_IP && m.Header.Type == unix.IP_RECVERR ||
			m.Header.Level == unix.SOL_IPV6 && m.Header.Type == unix.IPV6_RECVERR
		if !about || len(m.Data) < size || m.Data[origin] != unix.SO_EE_ORIGIN_ICMP && m.Data[origin] != unix.SO_EE_ORIGIN_ICMP6 {
			continue
		}
		errno := unix.Errno(binary.NativeEndian.Uint32(m.Data))
		return &refusal{seq: binary.BigEndian.Uint16(quote[6:]), why: errno.Error()}
	}
	return nil
}

// SetReadDeadline ends reads that begin from now on at t.
func (s *icmpSocket) SetReadDeadline(t time.Time) error {
	s.until = t
	return nil
}

// Close ends what is in progress, a read at its deadline.
func (s *icmpSocket) Close() error {
	if s.closed.Swap(true) {
		return net.ErrClosed
	}
	s.life.Lock()
	defer s.life.Unlock()
	return os.NewSyscallError("close", unix.Close(s.fd))
}
