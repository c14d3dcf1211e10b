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

// Send sends b to the address the socket is connected to and returns the number to
// ask for its departure by, before the next 128 are sent.
func (c *Conn) Send(b []byte) (number uint32, err error) {
	c.forget()
	return c.numbered(c.Write(b))
}

// SendTo is Send to an address; the socket must not be connected.
func (c *Conn) SendTo(b []byte, to netip.AddrPort) (number uint32, err error) {
	c.forget()
	return c.numbered(c.WriteTo(b, to))
}

// forget drops the stamps that nobody asked for when they have become many.
func (c *Conn) forget() {
	if c.source != datasets.User && c.sent-c.asked >= mostUnasked {
		c.asked = c.sent
		c.drain()
	}
}

// numbered counts as the kernel does. Whether it counted a packet that it then could
// not send depends on its version, so after such a one both begin anew.
func (c *Conn) numbered(_ int, err error) (uint32, error) {
	if err != nil {
		if c.source != datasets.User {
			c.renumber()
		}
		return 0, err
	}
	c.sent++
	return c.sent - 1, nil
}

// Departure returns when the packet of that number left, and waits for the stamp of
// it, but not beyond until. It may run beside a Read, and passes over the stamps of
// earlier packets.
func (c *Conn) Departure(number uint32, until time.Time) (datasets.Stamp, error) {
	if c.source == datasets.User {
		return datasets.Stamp{}, ErrNoStamp
	}
	c.asked = number + 1
	return c.departure(number, until)
}
