package netlab

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
)

// PTP4U runs facebook's unicast PTP server with software stamps. utcOffset is added to
// its time, from 30 s to 50 s, and ANNOUNCE tells the whole seconds of it.
func PTP4U(tb testing.TB, n Namespace, utcOffset string, args ...string) *Daemon {
	tb.Helper()
	d := newDaemon(tb)
	conf := d.write(tb, "ptp4u.yaml", fmt.Sprintf("clockaccuracy: 33\nclockclass: 6\ndraininterval: \"30s\"\nmaxsubduration: \"1h\"\n"+
		"metricinterval: \"1m\"\nminsubinterval: \"1s\"\nutcoffset: %q\n", utcOffset))
	args = append([]string{
		"-iface", n.Interface, "-ip", n.Addr.String(), "-timestamptype", "software", "-config", conf,
		"-pidfile", filepath.Join(d.Dir, "pid"), "-drainfile", filepath.Join(d.Dir, "drain"), "-undrainfile", filepath.Join(d.Dir, "undrain"),
		"-workers", "2", "-recvworkers", "2", "-queue", "100", "-loglevel", "warning",
	}, args...)
	d.Ended = n.Start(tb, Build(tb, "ptp4u"), args...)
	at := netip.AddrPortFrom(n.Addr, 319)
	d.Await(tb, "ptp4u", func() bool { return answersSPTP(n, at) })
	return d
}
