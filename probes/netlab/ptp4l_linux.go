package netlab

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// PTP4L runs linuxptp's ptp4l with software stamps, end to end, over UDP, and never
// steering a clock; lines go to its [global] section and port to that of the
// interface. It takes management messages at Socket.
func PTP4L(tb testing.TB, n Namespace, lines, port string) *Daemon {
	tb.Helper()
	Need(tb, "ptp4l")
	d := newDaemon(tb)
	d.Socket = filepath.Join(d.Dir, "ptp4l.sock")
	const standing = "time_stamping software\nnetwork_transport UDPv4\ndelay_mechanism E2E\nfree_running 1\n" +
		"logSyncInterval -4\nlogMinDelayReqInterval -4\nlogAnnounceInterval 0\n"
	conf := d.write(tb, "ptp4l.conf", fmt.Sprintf("[global]\n%suds_address %s\n%s\n[%s]\n%s\n", standing, d.Socket, lines, n.Interface, port))
	d.Ended = n.Start(tb, "ptp4l", "-f", conf, "-m")
	d.Await(tb, "ptp4l", func() bool {
		return exists(d.Socket) && strings.Contains(PMC(tb, n, d.Socket, "GET DEFAULT_DATA_SET"), "clockIdentity")
	})
	return d
}

// AwaitState waits until the first port of a ptp4l is in a state, such as MASTER.
func (d *Daemon) AwaitState(tb testing.TB, n Namespace, state string) {
	tb.Helper()
	is := regexp.MustCompile(`portState\s+` + state + `\b`)
	d.Await(tb, "ptp4l as "+state, func() bool { return is.MatchString(PMC(tb, n, d.Socket, "GET PORT_DATA_SET")) })
}

// PMC returns what linuxptp's pmc prints for some queries.
func PMC(tb testing.TB, n Namespace, socket string, queries ...string) string {
	tb.Helper()
	out, err := n.Run(tb, "pmc", append([]string{"-u", "-b", "0", "-s", socket}, queries...)...)
	if err != nil {
		tb.Fatalf("pmc: %v: %s", err, out)
	}
	return out
}
