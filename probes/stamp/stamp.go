// Package stamp holds UDP sockets that say when a packet arrived, and when one left.
//
// A program reads a packet some time after the network delivered it: tens of
// microseconds when it is idle, the rest of the pause when it is frozen. The
// kernel can note the arrival itself, and a [Conn] asks it to wherever it can.
// Every [Arrival] then says who took its stamp, and how long it waited to be read.
//
// On Linux a socket waits by itself, in a system call, rather than with the poller of
// the runtime: that one is woken by the stamp of every departure, on its way between
// the two stamps of a packet, and hands a packet on 8 µs later. What waits so keeps a
// processor of the runtime for some microseconds, so a program with many such sockets
// is better off with a larger GOMAXPROCS than it has processors.
package stamp

import (
	"net"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// buffer is what a socket is given, in bytes each way, to hold what arrives while nobody
// reads and what waits for the network; the kernel may grant less.
const buffer = 4 << 20

// Conn is one UDP socket. One goroutine may read it while others write; Close
// ends both.
type Conn struct {
	socket
	local netip.AddrPort
	one   [1]Message // of Read

	source     datasets.Source // of the stamps of departures; User is none
	sent       uint32          // packets numbered so far
	asked      uint32          // of these, with a departure that was asked for or given up
	departures *departures

	// Before is called right in front of every system call that sends, if it is set: the
	// latest that a sender can read its clocks. It must be set before the first sending.
	Before func()
}

// Message is one datagram, to be received or sent with others in one system call.
type Message struct {
	Buf     []byte         // room for one that arrives, at least a byte; or what is sent
	Arrival Arrival        // of one that arrived
	To      netip.AddrPort // of one that is sent; zero on a connected socket
}

// MostBatched is how many messages one system call takes at most.
const MostBatched = 64

// Arrival is one received datagram, apart from its bytes.
type Arrival struct {
	N         int            // bytes of it in the buffer
	From      netip.AddrPort // who sent it, an IPv4 address always as such
	Mono      time.Time      // just after it was read; for intervals
	Wall      datasets.Stamp // when it arrived, by hardware or kernel or else just after it was read
	Waited    time.Duration  // from its arrival to its reading, ≥ 0; 0 if only the user's stamp is there
	Truncated bool           // it was longer than the buffer (always false where the OS does not say)
	TTL       uint8          // or hop limit, when it arrived; 0 unless TellTTL was asked for (Linux)
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
	return newConn(udp)
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
	return newConn(udp)
}

func newConn(udp *net.UDPConn) (*Conn, error) {
	at := udp.LocalAddr().(*net.UDPAddr).AddrPort()
	c := &Conn{local: netip.AddrPortFrom(at.Addr().Unmap(), at.Port())}
	return c, c.take(udp)
}

// Read waits for a datagram and puts it into buf. After a deadline set by
// SetReadDeadline the error is os.ErrDeadlineExceeded, after Close net.ErrClosed.
func (c *Conn) Read(buf []byte) (Arrival, error) {
	c.one[0].Buf = buf
	_, err := c.ReadBatch(c.one[:])
	return c.one[0].Arrival, err
}

// ReadBatch waits for a datagram and takes with it what else has arrived, into the front
// of in; at most MostBatched. Past the deadline it does not wait, but still takes what is
// there.
func (c *Conn) ReadBatch(in []Message) (n int, err error) {
	in = in[:min(len(in), MostBatched)]
	for i := range in {
		in[i].Arrival = Arrival{}
	}
	return c.receive(in)
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
func (c *Conn) Write(b []byte) (int, error) { return c.WriteTo(b, netip.AddrPort{}) }

// LocalAddr returns the address the socket is bound to, with its real port.
func (c *Conn) LocalAddr() netip.AddrPort { return c.local }
