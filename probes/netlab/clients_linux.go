package netlab

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// NTPDig is what ntpsec's ntpdig reads of a server, at port 123, when it asks once.
func NTPDig(tb testing.TB, n Namespace, at netip.Addr) time.Duration {
	tb.Helper()
	return reads(tb, printedByNTPDig, "ntpdig", func() (string, error) { return NTPSec(tb, n, "ntpdig", "-j", at.String()) })
}

// NTPSec runs one of ntpsec's tools in Python, such as ntpq, and returns what it printed.
func NTPSec(tb testing.TB, n Namespace, tool string, args ...string) (string, error) {
	tb.Helper()
	path := Need(tb, tool)
	const python = "/usr/bin/python3" // which has the modules of Debian's packages
	if !exists(python) {
		tb.Skipf("needs %s for %s, which is not there", python, tool)
	}
	n = n.With("PYTHONPATH=" + modules(tb, filepath.Join(filepath.Dir(path), "../lib")))
	return n.Run(tb, python, append([]string{path}, args...)...)
}

// modules returns a folder with ntpsec's Python package as it is below lib. It looks
// for its library among its own files, or else where that would be installed, and
// unpacked it lies in neither place.
func modules(tb testing.TB, lib string) string {
	tb.Helper()
	d := newDaemon(tb)
	home := filepath.Join(d.Dir, "ntp")
	if err := os.Mkdir(home, 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, pattern := range []string{"python3/dist-packages/ntp/*.py", "*/ntp/libntpc.so"} {
		files, _ := filepath.Glob(filepath.Join(lib, pattern))
		if len(files) == 0 {
			tb.Skipf("needs ntpsec's Python modules (Debian package python3-ntp), which are not there")
		}
		for _, f := range files {
			if err := os.Symlink(f, filepath.Join(home, filepath.Base(f))); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return d.Dir
}

// ChronydQ is one measurement of chronyd -Q with these options of its server line; it
// takes some seconds.
func ChronydQ(tb testing.TB, n Namespace, at netip.Addr, options string) time.Duration {
	tb.Helper()
	d := newDaemon(tb)
	conf := d.write(tb, "q.conf", fmt.Sprintf("server %s iburst %s\ncmdport 0\nbindcmdaddress /\npidfile %s/pid\n", at, options, d.Dir))
	return reads(tb, printedByChronydQ, "chronyd -Q", func() (string, error) {
		return n.Run(tb, "chronyd", "-Q", "-u", "root", "-t", "10", "-f", conf)
	})
}

// NTPCheck is the mean of so many requests by facebook's `ntpcheck utils ntpdate`.
func NTPCheck(tb testing.TB, n Namespace, at netip.Addr, requests int) time.Duration {
	tb.Helper()
	ntpcheck := Build(tb, "ntpcheck")
	return reads(tb, printedByNTPCheck, "ntpcheck", func() (string, error) {
		return n.Run(tb, ntpcheck, "utils", "ntpdate", "-s", at.String(), "-r", strconv.Itoa(requests))
	})
}

func reads(tb testing.TB, read func(string) (time.Duration, error), who string, run func() (string, error)) time.Duration {
	tb.Helper()
	out, err := run()
	if err != nil {
		tb.Fatalf("%s: %v: %s", who, err, out)
	}
	theta, err := read(out)
	if err != nil {
		tb.Fatal(err)
	}
	return theta
}
