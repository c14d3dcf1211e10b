package netlab

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build returns a command of facebook/time, such as "ptp4u", in the version of our
// go.mod. Its own dependencies are not ours, so it is built outside our module, once
// for this user.
func Build(tb testing.TB, command string) string {
	tb.Helper()
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/facebook/time").Output()
	if err != nil {
		tb.Skipf("needs the go command: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "tickmark-tests", strings.TrimSpace(string(version)))
	path := filepath.Join(dir, command)
	if exists(path) {
		return path
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	build := exec.Command("go", "install", "github.com/facebook/time/cmd/"+command+"@"+strings.TrimSpace(string(version)))
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Skipf("facebook's %s cannot be built here: %v: %.300s", command, err, out)
	}
	return path
}

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
	return d
}

// PTP4U runs facebook's unicast PTP server with software stamps. utcOffset is added to
// its time, from 30 s to 50 s, and ANNOUNCE tells the whole seconds of it.
func PTP4U(tb testing.TB, n Namespace, utcOffset string) *Daemon {
	tb.Helper()
	d := newDaemon(tb)
	conf := d.write(tb, "ptp4u.yaml", fmt.Sprintf("clockaccuracy: 33\nclockclass: 6\ndraininterval: \"30s\"\nmaxsubduration: \"1h\"\n"+
		"metricinterval: \"1m\"\nminsubinterval: \"1s\"\nutcoffset: %q\n", utcOffset))
	pid := filepath.Join(d.Dir, "pid")
	d.Ended = n.Start(tb, Build(tb, "ptp4u"), "-iface", n.Interface, "-ip", n.Addr.String(), "-timestamptype", "software",
		"-config", conf, "-pidfile", pid, "-drainfile", filepath.Join(d.Dir, "drain"), "-undrainfile", filepath.Join(d.Dir, "undrain"),
		"-workers", "2", "-recvworkers", "2", "-queue", "100", "-loglevel", "warning")
	d.Await(tb, "ptp4u", func() bool { return exists(pid) })
	return d
}

// SPTP runs facebook's client of a PTP4U, steering nothing; it serves its state as
// JSON at port 4269 of its address.
func SPTP(tb testing.TB, n Namespace, server netip.Addr) *Daemon {
	tb.Helper()
	d := newDaemon(tb)
	conf := d.write(tb, "sptp.yaml", fmt.Sprintf("iface: %s\ninterval: 20ms\nexchangetimeout: 15ms\ntimestamping: software\nfreerunning: true\n"+
		"listenaddress: %q\nmonitoringport: 4269\nmaxclockclass: 7\nmaxclockaccuracy: 37\nattemptstxts: 10\ntimeouttxts: 5ms\n"+
		"metricsaggregationwindow: 60s\nservers: {%q: 1}\n"+
		"measurement: {path_delay_filter_length: 59, path_delay_filter: median, path_delay_discard_multiplier: 1000}\nbackoff: {mode: \"\"}\n",
		n.Interface, n.Addr, server))
	d.Ended = n.Start(tb, Build(tb, "sptp"), "-config", conf)
	return d
}
