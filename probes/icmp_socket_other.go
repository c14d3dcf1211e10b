//go:build !linux

package probes

import (
	"net"
	"net/netip"
	"time"

	xicmp "golang.org/x/net/icmp"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

// icmpSocket sends and receives ICMP messages of one remote host.
type icmpSocket struct {
	kind    string
	stamped bool
	conn    *xicmp.PacketConn
	remote  netip.Addr
	to      net.Addr
}

// openICMP opens a datagram socket or, where that is not allowed, a raw one. Its kind
// decides whose the identifier is; elsewhere than on Linux it is always ours.
func openICMP(remote netip.Addr) (*icmpSocket, error) {
	datagram, raw, any := "udp4", "ip4:icmp", "0.0.0.0"
	if remote.Is6() {
		datagram, raw, any = "udp6", "ip6:ipv6-icmp", "::"
	}
	addr := net.IPAddr{IP: remote.AsSlice(), Zone: remote.Zone()}
	if conn, err := xicmp.ListenPacket(datagram, any); err == nil {
		return &icmpSocket{kind: "datagram, unconnected", conn: conn, remote: remote, to: &net.UDPAddr{IP: addr.IP, Zone: addr.Zone}}, nil
	}
	conn, err := xicmp.ListenPacket(raw, any)
	if err != nil {
		return nil, err
	}
	return &icmpSocket{kind: rawICMP, conn: conn, remote: remote, to: &addr}, nil
}

func (s *icmpSocket) send(b []byte) error {
	_, err := s.conn.WriteTo(b, s.to)
	return err
}

// receive waits for a message from the remote host.
func (s *icmpSocket) receive(buf []byte) (stamp.Arrival, error) {
	for {
		n, from, err := s.conn.ReadFrom(buf)
		now := time.Now()
		if err != nil {
			return stamp.Arrival{}, err
		}
		if s.is(from) {
			return stamp.Arrival{N: n, Mono: now, Wall: datasets.StampTime(now, datasets.Local, datasets.User)}, nil
		}
	}
}

func (s *icmpSocket) is(from net.Addr) bool {
	var ip net.IP
	switch a := from.(type) {
	case *net.UDPAddr:
		ip = a.IP
	case *net.IPAddr:
		ip = a.IP
	}
	addr, _ := netip.AddrFromSlice(ip)
	return addr.Unmap() == s.remote.WithZone("")
}

// SetReadDeadline ends reads at t.
func (s *icmpSocket) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// Close ends a read in progress.
func (s *icmpSocket) Close() error { return s.conn.Close() }
