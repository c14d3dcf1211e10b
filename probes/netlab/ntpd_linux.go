package netlab

import (
	"testing"
)

// Ntpd runs ntpsec's ntpd on the local clock, without the capability to set one.
func Ntpd(tb testing.TB, n Namespace, lines string) *Daemon {
	tb.Helper()
	Need(tb, "setpriv")
	d := newDaemon(tb)
	const standing = "disable ntp\nrefclock local unit 0 stratum 3\nrestrict default\ninterface listen all\n"
	conf := d.write(tb, "ntp.conf", standing+lines+"\n")
	d.Ended = n.Start(tb, "setpriv", "--bounding-set=-sys_time", "--inh-caps=-sys_time", Need(tb, "ntpd"), "-n", "-c", conf)
	return d
}
