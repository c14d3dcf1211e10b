package netlab

import (
	"fmt"
	"net/netip"
	"testing"
)

// NTPResponder runs facebook's ntpresponder on a port; "-extraoffset", "1ms" adds that
// to both its stamps.
func NTPResponder(tb testing.TB, n Namespace, port uint16, args ...string) *Daemon {
	tb.Helper()
	d := newDaemon(tb)
	args = append([]string{
		"-interface", n.Interface, "-manage-loopback=false", "-ip", n.Addr.String(), "-port", fmt.Sprint(port),
		"-workers", "4", "-monitoringport", fmt.Sprint(port + 20000), "-loglevel", "warning",
	}, args...)
	d.Ended = n.Start(tb, Build(tb, "ntpresponder"), args...)
	at := netip.AddrPortFrom(n.Addr, port)
	d.Await(tb, "ntpresponder", func() bool { return answersNTP(n, at) })
	return d
}
