package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// impossibleTick asks the kernel for a clock that runs without ticks, which it refuses
// in any case: with EPERM one who may not set the clock, with EINVAL one who may
// (adjtimex(2)). So nothing is set whoever asks.
func impossibleTick() error {
	_, err := unix.Adjtimex(&unix.Timex{Modes: unix.ADJ_TICK, Tick: 0})
	return err
}

// TestMain answers for the commands that TestNoCommandCanSetTheClock starts.
func TestMain(m *testing.M) {
	if os.Getenv("NETLAB_TICK") != "" {
		fmt.Println(os.Geteuid(), impossibleTick())
		return
	}
	os.Exit(m.Run())
}

// What a lab starts cannot set the clock, be it root's or nobody's.
func TestNoCommandCanSetTheClock(t *testing.T) {
	lab := New(t)
	if err := impossibleTick(); !errors.Is(err, unix.EINVAL) {
		t.Skipf("this test may not set the clock itself, so nothing is shown: %v", err)
	}
	n := lab.Server.With("NETLAB_TICK=1")
	for want, run := range map[string]func(testing.TB, string, ...string) (string, error){
		"0 operation not permitted": n.Run, "65534 operation not permitted": n.Unprivileged,
	} {
		if out, err := run(t, os.Args[0]); strings.TrimSpace(out) != want {
			t.Errorf("%q, %v; want %q", out, err, want)
		}
	}
	if err := impossibleTick(); !errors.Is(err, unix.EINVAL) {
		t.Errorf("the test itself lost the right to: %v", err)
	}
}

// No server holds the capability to set the clock, nor can regain it; and none, nor any
// child, outlives its test.
func TestServersCannotSetTheClockAndEnd(t *testing.T) {
	var dirs []string
	t.Run("servers", func(t *testing.T) {
		lab := New(t)
		cert, key := SelfSigned(t, lab.Server.Addr)
		for name, d := range map[string]*Daemon{
			"chronyd": Chronyd(t, lab.Server, "local stratum 3\nallow 10.77.0.0/24\nntsprocesses 2\nntsservercert "+cert+"\nntsserverkey "+key),
			"ntpd":    Ntpd(t, lab.Client, ""),
		} {
			all := processes(t, d.Dir)
			if len(all) == 0 {
				t.Errorf("%s does not run", name)
			}
			for pid, status := range all {
				for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
					if status[set]>>unix.CAP_SYS_TIME&1 != 0 {
						t.Errorf("%s, pid %s: CAP_SYS_TIME in %s", name, pid, set)
					}
				}
			}
			t.Logf("%s: %d processes", name, len(all))
			dirs = append(dirs, d.Dir)
		}
	})
	for _, dir := range dirs {
		for pid := range processes(t, dir) {
			t.Errorf("%s, pid %s, outlives its test", dir, pid)
		}
		if exists(dir) {
			t.Errorf("%s outlives its test", dir)
		}
	}
}

// A command's children end with it, even those that it does not wait for.
func TestChildrenEndToo(t *testing.T) {
	const unusual = "3600.0625"
	t.Run("lab", func(t *testing.T) {
		d := &Daemon{Ended: New(t).Server.Start(t, "sh", "-c", "sleep "+unusual+" & wait")}
		d.Await(t, "two sleepers", func() bool { return len(processes(t, unusual)) == 2 })
	})
	if left := processes(t, unusual); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

// processes are the capability sets of those that name dir in their arguments, by pid.
func processes(t *testing.T, dir string) map[string]map[string]uint64 {
	t.Helper()
	found := map[string]map[string]uint64{}
	all, err := filepath.Glob("/proc/[0-9]*")
	check(t, err)
	for _, p := range all {
		args, _ := os.ReadFile(filepath.Join(p, "cmdline")) // gone by now, or a kernel thread: no arguments
		if !strings.Contains(string(args), dir) {
			continue
		}
		status, err := os.ReadFile(filepath.Join(p, "status"))
		if err != nil {
			continue
		}
		sets := map[string]uint64{}
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			if strings.HasPrefix(name, "Cap") {
				set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
				check(t, err)
				sets[name] = set
			}
		}
		found[filepath.Base(p)] = sets
	}
	return found
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
