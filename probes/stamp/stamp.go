// Package stamp holds UDP sockets that say when a packet arrived.
//
// A program reads a packet some time after the network delivered it: tens of
// microseconds when it is idle, the rest of the pause when it is frozen. The
// kernel can note the arrival itself, and a [Conn] asks it to wherever it can.
// Every [Arrival] then says who took its stamp, and how long it waited to be read.
package stamp

import (
	"net"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// receiveBuffer is what a socket is given to hold what arrives while nobody
// reads, in bytes; the kernel may grant less.
const receiveBuffer = 4 << 20

// Conn is one UDP socket. One goroutine may read it while others write; Close
// ends both.
type Conn struct {
	udp     *net.UDPConn
	kernel  bool
	control [256]byte // control messages of the packet being read

	source     datasets.Source // of the stamps of departures; User is none
	sent       uint32          // packets numbered so far
	asked      uint32          // of these, with a departure that was asked for or given up
	departures *departures
}

// Arrival is one received datagram, apart from its bytes.
type Arrival struct {
	N         int            // bytes of it in the buffer
	From      netip.AddrPort // who sent it, an IPv4 address always as such
	Mono      time.Time      // just after it was read; for intervals
	Wall      datasets.Stamp // when it arrived, by hardware or kernel or else just after it was read
	Waited    time.Duration  // from its arrival to its reading, ≥ 0; 0 if only the user's stamp is there
	Truncated bool           // it was longer than the buffer (always false where the OS does not say)
	Dropped   uint32         // datagrams that found the receive buffer full, since the socket was made (Linux)
}

// Listen returns a socket bound to addr, "127.0.0.1:0" or "[::1]:123".
func Listen(addr string) (*Conn, error) {
	at, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	udp, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, err
	}
	return newConn(udp), nil
}

// Dial returns a socket connected to remote, so that an ICMP "port unreachable"
// comes back as ECONNREFUSED from the next read or write. The zero local address
// leaves the choice to the system.
func Dial(local, remote netip.AddrPort) (*Conn, error) {
	var from *net.UDPAddr
	if local.IsValid() {
		from = net.UDPAddrFromAddrPort(local)
	}
	udp, err := net.DialUDP("udp", from, net.UDPAddrFromAddrPort(remote))
	if err != nil {
		return nil, err
	}
	return newConn(udp), nil
}

func newConn(udp *net.UDPConn) *Conn {
	c := &Conn{udp: udp}
	c.prepare()
	return c
}

// Read waits for a datagram and puts it into buf. After a deadline set by
// SetReadDeadline the error is os.ErrDeadlineExceeded, after Close net.ErrClosed.
func (c *Conn) Read(buf []byte) (Arrival, error) {
	a, err := c.receive(buf)
	if err != nil {
		return Arrival{}, err
	}
	a.From = netip.AddrPortFrom(a.From.Addr().Unmap(), a.From.Port())
	return a, nil
}

// arrived fills in the times of a packet that was read at now and arrived at
// unixNanos by the kernel's stamp, if there is one.
func (a *Arrival) arrived(now time.Time, unixNanos int64, stamped bool) {
	a.Mono = now
	if !stamped {
		a.Wall = datasets.StampTime(now, datasets.Local, datasets.User)
		return
	}
	a.Wall = datasets.NewStamp(unixNanos, datasets.Local, datasets.Kernel)
	// Both readings are of one clock, CLOCK_REALTIME. Should it step back in
	// between, the wait is unknown rather than negative.
	a.Waited = max(0, time.Duration(now.UnixNano()-unixNanos))
}

// Write sends b to the address the socket is connected to.
func (c *Conn) Write(b []byte) (int, error) { return c.udp.Write(b) }

// WriteTo sends b to an address; the socket must not be connected.
func (c *Conn) WriteTo(b []byte, to netip.AddrPort) (int, error) {
	return c.udp.WriteToUDPAddrPort(b, to)
}

// LocalAddr returns the address the socket is bound to, with its real port.
func (c *Conn) LocalAddr() netip.AddrPort {
	at := c.udp.LocalAddr().(*net.UDPAddr).AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// SetReadDeadline ends reads at t; the zero time lets them wait for ever.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.udp.SetReadDeadline(t) }

// KernelStamps reports whether the kernel was asked for arrival stamps and agreed.
// Which stamp a packet got is in its Arrival.
func (c *Conn) KernelStamps() bool { return c.kernel }

// NetConn returns the socket underneath, to set options on. Reading it directly
// loses the stamps.
func (c *Conn) NetConn() *net.UDPConn { return c.udp }

// Close releases the socket and ends a read in progress.
func (c *Conn) Close() error { return c.udp.Close() }
