//go:build !linux

package stamp

import "time"

func (c *Conn) prepare() { _ = c.udp.SetReadBuffer(receiveBuffer) }

// receive has only the user's stamp to offer.
func (c *Conn) receive(buf []byte) (Arrival, error) {
	n, from, err := c.udp.ReadFromUDPAddrPort(buf)
	now := time.Now()
	if err != nil {
		return Arrival{}, err
	}
	a := Arrival{N: n, From: from}
	a.arrived(now, 0, false)
	return a, nil
}
