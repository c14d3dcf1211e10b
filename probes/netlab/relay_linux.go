package netlab

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spinFor is how long before a packet is due its relay stops sleeping: longer than a
// sleep is late.
const spinFor = 200 * time.Microsecond

// Relay forwards UDP packets from an address of n, which it returns, to a server that
// n reaches, and the replies back; each leaves a fixed time after the kernel received
// it. A path whose two ways differ by 2 d reads as an offset of d. It is for one
// client at a time, and a delay below spinFor is not kept.
func Relay(tb testing.TB, n Namespace, to netip.AddrPort, there, back time.Duration) netip.AddrPort {
	tb.Helper()
	var front, rear *net.UDPConn
	err := n.Do(func() (err error) {
		if front, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(n.Addr, 0))); err != nil {
			return err
		}
		rear, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	r := &relay{front: front, rear: rear}
	var ways sync.WaitGroup
	ways.Go(func() { r.carry(front, there, func(b []byte, _ netip.AddrPort) { _, _ = rear.Write(b) }) })
	ways.Go(func() {
		r.carry(rear, back, func(b []byte, _ netip.AddrPort) {
			if client := r.seen(); client.IsValid() {
				_, _ = front.WriteToUDPAddrPort(b, client)
			}
		})
	})
	tb.Cleanup(func() {
		front.Close()
		rear.Close()
		ways.Wait()
	})
	return front.LocalAddr().(*net.UDPAddr).AddrPort()
}

type relay struct {
	front, rear *net.UDPConn

	mu     sync.Mutex
	client netip.AddrPort
}

func (r *relay) seen() netip.AddrPort {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.client
}

// carry forwards what arrives at c until that is closed, on a thread of its own, which
// is real-time where it may be.
func (r *relay) carry(c *net.UDPConn, delay time.Duration, send func([]byte, netip.AddrPort)) {
	runtime.LockOSThread() // not unlocked: the thread ends with its priority
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 20}, 0)
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	buf, control := make([]byte, 64<<10), make([]byte, 128)
	for {
		size, extra, _, from, err := c.ReadMsgUDPAddrPort(buf, control)
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil {
			continue // an ICMP error
		}
		if c == r.front {
			r.mu.Lock()
			r.client = from
			r.mu.Unlock()
		}
		wait(arrived(control[:extra]).Add(delay))
		send(buf[:size], from)
	}
}

// wait returns at due: it sleeps, and spins in the end.
func wait(due time.Time) {
	if left := time.Until(due) - spinFor; left > 0 {
		nap := unix.NsecToTimespec(int64(left))
		_ = unix.Nanosleep(&nap, nil)
	}
	for time.Now().Before(due) {
	}
}

// arrived is when the kernel received the packet.
func arrived(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return time.Now()
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			t := *(*unix.Timespec)(unsafe.Pointer(&m.Data[0]))
			return time.Unix(t.Unix())
		}
	}
	return time.Now()
}
