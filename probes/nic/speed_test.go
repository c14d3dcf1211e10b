package nic

import (
	"testing"
	"time"
)

// A frame's bytes are those of IEEE 802.3 clause 3: 14 of header, 4 of check sequence,
// 64 at least; 20 or 40 of IP and 8 of UDP lie in it.
func TestSpeedLasts(t *testing.T) {
	for _, c := range []struct {
		speed   Speed
		payload int
		ipv6    bool
		want    time.Duration
	}{
		{1000, 48, false, 752 * time.Nanosecond}, // 94 bytes; chronyd moves its T2 by as much
		{1000, 48, true, 912 * time.Nanosecond},
		{100, 48, false, 7520 * time.Nanosecond},
		{25_000, 48, false, 30 * time.Nanosecond}, // 30.08
		{1000, 0, false, 512 * time.Nanosecond},
	} {
		if got := c.speed.Lasts(c.payload, c.ipv6); got != c.want {
			t.Errorf("%v, %d bytes, IPv6 %t: %v, want %v", c.speed, c.payload, c.ipv6, got, c.want)
		}
	}
}

func TestLinkSpeedUnknown(t *testing.T) {
	for _, iface := range []string{"lo", "none such"} {
		if s, err := LinkSpeed(iface); err == nil {
			t.Errorf("%s: %v", iface, s)
		}
	}
}
