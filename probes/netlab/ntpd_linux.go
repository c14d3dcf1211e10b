package netlab

import (
	"net"
	"net/netip"
	"testing"
)

// Ntpd runs ntpsec's ntpd with the local clock as its reference. It calls itself
// synchronised after some seconds; its limit of 20 requests at a time is lifted, and
// the line "unrestrict default noquery" lets ntpq ask too. Like every command of a lab
// it lacks the capability to set the clock.
func Ntpd(tb testing.TB, n Namespace, lines string) *Daemon {
	tb.Helper()
	Need(tb, "ntpd")
	d := newDaemon(tb)
	const standing = "tos orphan 3 orphanwait 1 minclock 1 minsane 1\nrefclock local unit 0 stratum 3 minpoll 3 maxpoll 3 prefer\nrestrict default\nunrestrict default limited\n"
	conf := d.write(tb, "ntp.conf", standing+lines+"\n")
	// It looks for interfaces at its start and then again only after some seconds.
	d.Await(tb, "the cable", n.running)
	d.Ended = n.Start(tb, "ntpd", "-n", "-c", conf)
	at := netip.AddrPortFrom(n.Addr, 123)
	d.Await(tb, "ntpd", func() bool { return answersNTP(n, at) })
	return d
}

// running is true when the kernel knows that the cable is plugged in at both ends.
func (n Namespace) running() (up bool) {
	_ = n.Do(func() error {
		i, err := net.InterfaceByName(n.Interface)
		up = err == nil && i.Flags&net.FlagRunning != 0
		return err
	})
	return up
}
