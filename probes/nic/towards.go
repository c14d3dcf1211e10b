package nic

import (
	"fmt"
	"net"
	"net/netip"
)

// Towards returns the interface by which packets to addr leave. Nothing is sent.
func Towards(addr netip.Addr) (iface string, err error) {
	addr = addr.Unmap()
	if !addr.IsValid() {
		return "", fmt.Errorf("nic: no address to find the way to")
	}
	if zone := addr.Zone(); zone != "" {
		return zone, nil // a link-local address names its interface
	}
	if iface, err := routed(addr); err == nil {
		return iface, nil
	}
	return bySource(addr)
}

// bySource connects a UDP socket, which makes the system choose a source address, and
// looks for the interface that has it.
func bySource(addr netip.Addr) (string, error) {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(addr, 9)))
	if err != nil {
		return "", fmt.Errorf("nic: no way to %s: %w", addr, err)
	}
	source := conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap().WithZone("")
	conn.Close()
	all, err := net.Interfaces()
	if err != nil {
		return "", err
	}
	for _, i := range all {
		// A host reaches its own addresses over loopback, whichever interface has them.
		if source == addr && i.Flags&net.FlagLoopback != 0 || has(i, source) && source != addr {
			return i.Name, nil
		}
	}
	return "", fmt.Errorf("nic: no interface has %s, from which packets to %s leave", source, addr)
}

func has(i net.Interface, want netip.Addr) bool {
	addrs, err := i.Addrs()
	if err != nil {
		return false
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if have, ok := netip.AddrFromSlice(n.IP); ok && have.Unmap() == want {
				return true
			}
		}
	}
	return false
}
