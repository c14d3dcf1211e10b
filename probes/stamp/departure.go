package stamp

import (
	"errors"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ErrNoStamp says that a packet's departure was not stamped in time. The packet may
// have left all the same.
var ErrNoStamp = errors.New("no stamp of the departure")

// StampDepartures has the packets that are sent from now on stamped as they leave:
// by the kernel, when it hands them to the driver, behind every queue of its own; or
// by the hardware, as they leave the NIC, by the NIC's own clock, if the NIC has been
// set up to do that. Arrivals are then stamped by the same where it can. Where the
// system has no such stamps the error is errors.ErrUnsupported.
func (c *Conn) StampDepartures(source datasets.Source) error {
	if source == datasets.User {
		return nil
	}
	if err := c.prepareDepartures(source); err != nil {
		return err
	}
	c.source = source
	return nil
}

// mostUnasked is how many stamps that nobody asked for may wait with the kernel. They
// take their room, 832 bytes each, from the receive buffer (Linux 6.18), and a socket
// whose buffer is full hears nothing more: 425,984 bytes, which is what most systems
// grant, hold 512 of them.
const mostUnasked = 128

// MostRemembered is how many packets may be sent before the departure of the first of
// them is asked for.
const MostRemembered = 256

// Send sends b to the address the socket is connected to and returns the number to
// ask for its departure by, before MostRemembered others are sent.
func (c *Conn) Send(b []byte) (number uint32, err error) { return c.SendTo(b, netip.AddrPort{}) }

// SendTo is Send to an address; the socket must not be connected.
func (c *Conn) SendTo(b []byte, to netip.AddrPort) (number uint32, err error) {
	c.forget()
	if _, err = c.WriteTo(b, to); err != nil {
		return c.numbered(0, 1), err
	}
	return c.numbered(1, 1), nil
}

// ErrStopped says that some messages were sent and that the system stopped at the next
// one, although there was room for it: it cannot be sent, or, on a connected socket, an
// ICMP error came about an earlier packet. The error itself is lost; another try tells
// which it was.
var ErrStopped = errors.New("sending stopped")

// SendBatch sends as many of the messages as the system takes at once, in their order,
// without waiting for room, and returns how many; the first of them has that number, and
// the others the next ones. An error is of the first message, and nothing was sent, or it
// is ErrStopped.
func (c *Conn) SendBatch(out []Message) (n int, first uint32, err error) {
	c.forget()
	out = out[:min(len(out), MostBatched)]
	n, err = c.transmit(out)
	return n, c.numbered(n, len(out)), err
}

// forget takes the stamps that nobody asked for from the kernel when they have become many.
func (c *Conn) forget() {
	if c.source != datasets.User && c.sent-c.asked >= mostUnasked {
		c.asked = c.sent
		c.drain()
	}
}

// numbered counts the n packets that were sent of some, as the kernel does, and returns
// the first one's number. Whether the kernel counted one that it then could not send
// depends on its version, so after such a one both begin anew.
func (c *Conn) numbered(n, of int) (first uint32) {
	first = c.sent
	c.sent += uint32(n)
	if n < of && c.source != datasets.User {
		c.renumber()
	}
	return first
}

// Departure returns when the packet of that number left, and waits for the stamp of
// it, but not beyond until. It may run beside a Read.
func (c *Conn) Departure(number uint32, until time.Time) (datasets.Stamp, error) {
	if c.source == datasets.User {
		return datasets.Stamp{}, ErrNoStamp
	}
	if int32(number+1-c.asked) > 0 {
		c.asked = number + 1
	}
	return c.departure(number, until)
}
