package nic

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Speed is how fast a link carries bits, in Mbit/s.
type Speed int

// LinkSpeed returns the speed of an interface's link, as the system gives it in
// /sys/class/net: an error if the link is down or the system does not tell.
func LinkSpeed(iface string) (Speed, error) {
	text, err := os.ReadFile("/sys/class/net/" + iface + "/speed")
	if err != nil {
		return 0, err
	}
	s, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || s <= 0 {
		return 0, fmt.Errorf("nic %q: speed %q: unknown", iface, strings.TrimSpace(string(text)))
	}
	return Speed(s), nil
}

// Lasts returns for how long a UDP packet of so many bytes of payload passes by: from
// the first bit of its Ethernet frame, untagged, to the last of the check sequence. A
// NIC stamps the start of a frame, NTP has a packet arrive with its end.
func (s Speed) Lasts(payload int, ipv6 bool) time.Duration {
	const ethernet, ip, ip6, udp, check, shortest = 14, 20, 40, 8, 4, 64
	header := ip
	if ipv6 {
		header = ip6
	}
	bits := 8 * max(shortest, ethernet+header+udp+payload+check)
	return time.Duration(bits) * time.Microsecond / time.Duration(s)
}

// String returns 1000 Mbit/s.
func (s Speed) String() string { return fmt.Sprintf("%d Mbit/s", int(s)) }
