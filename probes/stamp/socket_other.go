//go:build !linux

package stamp

import (
	"net"
	"net/netip"
	"time"
)

// socket is one of package net: the system offers no more that is the same everywhere.
type socket struct{ udp *net.UDPConn }

func (c *Conn) take(udp *net.UDPConn) error {
	c.udp = udp
	_, _ = udp.SetReadBuffer(buffer), udp.SetWriteBuffer(buffer)
	return nil
}

// receive takes one datagram, and has only the user's stamp to offer.
func (c *Conn) receive(in []Message) (int, error) {
	n, from, err := c.udp.ReadFromUDPAddrPort(in[0].Buf)
	now := time.Now()
	if err != nil {
		return 0, err
	}
	a := &in[0].Arrival
	a.N, a.From = n, netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	a.arrived(now, 0, false)
	return 1, nil
}

// transmit sends one after the other.
func (c *Conn) transmit(out []Message) (n int, err error) {
	for ; n < len(out); n++ {
		if _, err = c.WriteTo(out[n].Buf, out[n].To); err != nil {
			break
		}
	}
	if n > 0 && err != nil {
		err = ErrStopped
	}
	return n, err
}

// WriteTo sends b to an address; the socket must not be connected, or the address be zero.
func (c *Conn) WriteTo(b []byte, to netip.AddrPort) (int, error) {
	if c.Before != nil {
		c.Before()
	}
	if !to.IsValid() {
		return c.udp.Write(b)
	}
	return c.udp.WriteToUDPAddrPort(b, to)
}

// leastWait is how long a read waits at least: one with a deadline in the past would
// take nothing from the system's poller.
const leastWait = 100 * time.Microsecond

// SetReadDeadline ends reads that begin from now on at t; the zero time lets them wait
// for ever. It is called by the goroutine that reads.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if least := time.Now().Add(leastWait); !t.IsZero() && t.Before(least) {
		t = least
	}
	return c.udp.SetReadDeadline(t)
}

// KernelStamps reports whether the kernel was asked for arrival stamps and agreed.
// Which stamp a packet got is in its Arrival.
func (c *Conn) KernelStamps() bool { return false }

// Close releases the socket and ends a read in progress.
func (c *Conn) Close() error { return c.udp.Close() }
