package netlab

import "testing"

// Ntpd runs ntpsec's ntpd with the local clock as its reference, and without the
// capability to set one. It calls itself synchronised after some seconds; its
// limit of 20 requests at a time is lifted.
func Ntpd(tb testing.TB, n Namespace, lines string) *Daemon {
	tb.Helper()
	Need(tb, "setpriv")
	d := newDaemon(tb)
	const standing = "tos orphan 3 orphanwait 1 minclock 1 minsane 1\nrefclock local unit 0 stratum 3 minpoll 3 maxpoll 3 prefer\nrestrict default\nunrestrict default limited\n"
	conf := d.write(tb, "ntp.conf", standing+lines+"\n")
	d.Ended = n.Start(tb, "setpriv", "--bounding-set=-sys_time", "--inh-caps=-sys_time", Need(tb, "ntpd"), "-n", "-c", conf)
	return d
}
