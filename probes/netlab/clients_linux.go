package netlab

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// The other clients return what they read of a server, positive when the local clock
// is slow.

// NTPDig asks once, by ntpsec's ntpdig.
func NTPDig(tb testing.TB, n Namespace, at netip.Addr) time.Duration {
	tb.Helper()
	// Unpacked rather than installed, its Python modules lie beside it, and the library
	// that they load is looked for among them.
	dig := Need(tb, "ntpdig")
	lib := filepath.Join(filepath.Dir(dig), "../lib")
	modules := filepath.Join(lib, "python3/dist-packages")
	if found, _ := filepath.Glob(filepath.Join(lib, "*/ntp/libntpc.so")); len(found) == 1 {
		_ = os.Symlink(found[0], filepath.Join(modules, "ntp/libntpc.so"))
	}
	c := exec.Command(Need(tb, "ip"), "netns", "exec", n.Name, dig, "-j", at.String())
	c.Env = append(os.Environ(), "PYTHONPATH="+modules)
	out, err := c.Output()
	if err != nil {
		tb.Fatalf("ntpdig: %v: %s", err, out)
	}
	var answer struct {
		Offset float64 `json:"offset"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		tb.Fatalf("ntpdig: %v: %s", err, out)
	}
	return seconds(answer.Offset)
}

// ChronydQ is one measurement of chronyd -Q, which prints microseconds.
func ChronydQ(tb testing.TB, n Namespace, at netip.Addr, options string) time.Duration {
	tb.Helper()
	d := newDaemon(tb)
	conf := d.write(tb, "q.conf", fmt.Sprintf("server %s iburst %s\ncmdport 0\nbindcmdaddress /\npidfile %s/pid\n", at, options, d.Dir))
	// "System clock wrong by -0.000003 seconds (ignored)": what is to be added to it.
	return read(tb, n, regexp.MustCompile(`System clock wrong by (-?[0-9.]+) seconds`), Need(tb, "chronyd"), "-Q", "-u", "root", "-t", "10", "-f", conf)
}

// NTPCheck is the mean of n requests by facebook's `ntpcheck utils ntpdate`.
func NTPCheck(tb testing.TB, n Namespace, at netip.Addr, requests int) time.Duration {
	tb.Helper()
	return read(tb, n, regexp.MustCompile(`(?i)offset:?\s+(-?[0-9.]+)`), Build(tb, "ntpcheck"), "utils", "ntpdate", "-s", at.String(), "-r", strconv.Itoa(requests))
}

func read(tb testing.TB, n Namespace, number *regexp.Regexp, command string, args ...string) time.Duration {
	tb.Helper()
	out, err := exec.Command(Need(tb, "ip"), append([]string{"netns", "exec", n.Name, command}, args...)...).CombinedOutput()
	match := number.FindSubmatch(out)
	if match == nil {
		tb.Fatalf("%s: %v: %s", command, err, out)
	}
	v, err := strconv.ParseFloat(string(match[1]), 64)
	if err != nil {
		tb.Fatalf("%s: %v", command, err)
	}
	return seconds(v)
}

func seconds(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
