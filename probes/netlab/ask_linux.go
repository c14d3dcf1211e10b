package netlab

import (
	"crypto/rand"
	"encoding/binary"
	"net"
	"net/netip"
	"time"
)

// answersNTP asks once, from n, and is true when a reply to just that request comes,
// whatever it says.
func answersNTP(n Namespace, at netip.AddrPort) bool {
	request := make([]byte, 48)
	request[0] = 4<<3 | 3
	_, _ = rand.Read(request[40:]) // the transmit stamp, which comes back as the origin
	reply := ask(n, at, request)
	return len(reply) >= 48 && reply[0]&7 == 4 && string(reply[24:32]) == string(request[40:])
}

// answersSPTP is answersNTP for a server of the simple PTP: to a Delay_Req with the
// flags unicast and profile-specific 1, it sends a Sync to the port that asked, and
// from a port of its own choice. The first request to each of its workers it drops.
func answersSPTP(n Namespace, at netip.AddrPort) bool {
	const portNumber = 1 << 15 // above 10: all replies to the port that asked
	request := make([]byte, 44)
	request[0], request[1] = 1, 2 // Delay_Req, PTPv2
	binary.BigEndian.PutUint16(request[2:], 44)
	request[6] = 1<<5 | 1<<2
	_, _ = rand.Read(request[20:28])
	binary.BigEndian.PutUint16(request[28:], portNumber)
	return len(ask(n, at, request)) >= 44
}

// ask sends a datagram from n and returns the first that comes back from there, from
// whichever port; nil if none does.
func ask(n Namespace, at netip.AddrPort, request []byte) (reply []byte) {
	_ = n.Do(func() error {
		c, err := net.ListenUDP("udp4", nil)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := c.WriteToUDPAddrPort(request, at); err != nil {
			return err
		}
		_ = c.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		buf := make([]byte, 1500)
		for {
			size, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return err
			}
			if from.Addr().Unmap() == at.Addr() {
				reply = buf[:size]
				return nil
			}
		}
	})
	return reply
}
