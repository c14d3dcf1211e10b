package probes_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// rounds is how often a truth is measured on a machine that may be busy: the best round
// tells what the instrument can do.
const rounds = 5

// bestOf makes rounds until one is off by no more than want, and fails if none is.
func bestOf(t *testing.T, want time.Duration, round func() (off time.Duration, told string)) {
	t.Helper()
	best := time.Duration(1<<63 - 1)
	for i := range rounds {
		off, told := round()
		t.Logf("round %d: %s: off by %v", i+1, told, off)
		if best = min(best, off.Abs()); best <= want {
			return
		}
	}
	t.Errorf("off by %v at best, want at most %v", best, want)
}

// started runs a command until the test ends.
func started(t *testing.T, name string, args ...string) *os.Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process
}

// during runs a probe for as long, and beside it, once the probe watches, what it is to see.
func during(t *testing.T, spec string, d time.Duration, do func()) trace[datasets.Pause] {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(200 * time.Millisecond)
		do()
	}()
	tr := measure[datasets.Pause](t, spec, "", probes.Plan{Duration: d})
	<-done
	return tr
}

// longestBy returns the longest pause of a cause.
func longestBy(tr trace[datasets.Pause], cause string) (longest datasets.Pause) {
	for _, p := range tr.rows {
		if p.Cause == cause && p.Length > longest.Length {
			longest = p
		}
	}
	return longest
}

func TestPauseOfAStoppedProcess(t *testing.T) {
	child := started(t, "sleep", "1000")
	bestOf(t, 5*time.Millisecond, func() (time.Duration, string) {
		var stopped time.Duration
		tr := during(t, fmt.Sprintf("pause:of=process,pid=%d", child.Pid), time.Second, func() {
			_ = child.Signal(syscall.SIGSTOP)
			start := time.Now()
			time.Sleep(500 * time.Millisecond)
			_ = child.Signal(syscall.SIGCONT)
			stopped = time.Since(start)
		})
		p := longestBy(tr, "stopped")
		return p.Length - stopped, fmt.Sprintf("stopped for %v, read as %v", stopped, p.Length)
	})
}

func TestPauseOfAFrozenGroup(t *testing.T) {
	dir := newGroup(t, "freezer", "freezer.state", "cgroup.freeze")
	child := started(t, "sleep", "1000")
	join(t, dir, child.Pid)
	freeze := func(state, bit string) {
		if os.WriteFile(filepath.Join(dir, "freezer.state"), []byte(state), 0o600) != nil {
			_ = os.WriteFile(filepath.Join(dir, "cgroup.freeze"), []byte(bit), 0o600)
		}
	}
	for _, of := range []string{fmt.Sprintf("pid=%d", child.Pid), "cgroup=" + dir} {
		bestOf(t, 5*time.Millisecond, func() (time.Duration, string) {
			var frozen time.Duration
			tr := during(t, "pause:of=process,"+of, time.Second, func() {
				freeze("FROZEN", "1")
				start := time.Now()
				time.Sleep(300 * time.Millisecond)
				freeze("THAWED", "0")
				frozen = time.Since(start)
			})
			p := longestBy(tr, "frozen")
			return p.Length - frozen, fmt.Sprintf("frozen for %v, read as %v", frozen, p.Length)
		})
	}
}

// A loop that may use 60 ms of every 100 ms is stopped for the other 40 (CFS bandwidth
// control; the kernel hands out 5 ms at a time, so it may be some ms less).
func TestPauseOfAThrottledProcess(t *testing.T) {
	dir := quotaGroup(t, 60*time.Millisecond, 100*time.Millisecond)
	child := started(t, "sh", "-c", "while :; do :; done")
	join(t, dir, child.Pid)
	for _, of := range []string{fmt.Sprintf("pid=%d", child.Pid), "cgroup=" + dir} {
		bestOf(t, 5*time.Millisecond, func() (time.Duration, string) {
			tr := during(t, "pause:min=10ms,of=process,"+of, 1500*time.Millisecond, func() {})
			return medianOf(tr, "throttled") - 40*time.Millisecond, fmt.Sprintf("%s: %d pauses, median %v, longest %v",
				of, len(tr.rows), medianOf(tr, "throttled"), longestBy(tr, "throttled").Length)
		})
	}
}

func medianOf(tr trace[datasets.Pause], cause string) time.Duration {
	var lengths []time.Duration
	for _, p := range tr.rows {
		if p.Cause == cause {
			lengths = append(lengths, p.Length)
		}
	}
	if lengths == nil {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

func TestPauseOfAProcessThatEnds(t *testing.T) {
	child := exec.CommandContext(t.Context(), "sleep", "0.2")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	tr := measure[datasets.Pause](t, fmt.Sprintf("pause:of=process,pid=%d", child.Process.Pid), "", probes.Plan{Duration: patience})
	if got, want := tr.Text("ended"), fmt.Sprintf("process %d ended", child.Process.Pid); got != want {
		t.Errorf("ended %q, want %q", got, want)
	}
	pid := child.Process.Pid
	_ = child.Wait()
	err := parse(t, fmt.Sprintf("pause:of=process,pid=%d", pid)).Run(t.Context(), "", probes.Plan{}, &recording{})
	if want := fmt.Sprintf(`pause: pid "%d": there is no process of this number, or not for this user to see`, pid); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPauseOfNoGroup(t *testing.T) {
	dir := t.TempDir()
	err := parse(t, "pause:of=process,cgroup="+dir).Run(t.Context(), "", probes.Plan{}, &recording{})
	if err == nil || !strings.Contains(err.Error(), strconv.Quote(dir)) || !strings.Contains(err.Error(), "/sys/fs/cgroup") {
		t.Errorf("got %v", err)
	}
}

// A real-time program above the watcher's priority keeps it from its CPU for exactly as
// long as it runs.
func TestPauseOfAHostWithAHog(t *testing.T) {
	cpu := runtime.NumCPU() - 1
	if err := fifo(cpu, 1, func() {}); err != nil {
		t.Skipf("needs SCHED_FIFO: %v", err)
	}
	memory := make([]byte, 512<<20) // never written: it takes no memory
	bestOf(t, 5*time.Millisecond, func() (time.Duration, string) {
		var ran time.Duration
		tr := during(t, "pause:of=host,fifo=10", time.Second, func() {
			_ = fifo(cpu, 90, func() {
				start := time.Now()
				bytes.IndexByte(memory, 1) // which the Go runtime cannot interrupt
				ran = time.Since(start)
			})
		})
		p := longestBy(tr, "runqueue")
		if p.Extra != strconv.Itoa(cpu) {
			t.Errorf("on cpu %s, want %d", p.Extra, cpu)
		}
		return p.Length - ran, fmt.Sprintf("ran for %v, read as %v", ran, p.Length)
	})
}

// fifo runs f on a CPU by SCHED_FIFO.
func fifo(cpu, priority int, f func()) error {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this
		var set unix.CPUSet
		set.Set(cpu)
		attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: uint32(priority)}
		err := errors.Join(unix.SchedSetaffinity(0, &set), unix.SchedSetAttr(0, &attr, 0))
		if err == nil {
			f()
		}
		failed <- err
	}()
	return <-failed
}

func TestPauseWatchesEachCPU(t *testing.T) {
	tr := measure[datasets.Pause](t, "pause:of=host,min=0s", "", probes.Plan{Count: 20})
	cpus := map[string]int{}
	for _, p := range tr.rows {
		cpus[p.Extra]++
	}
	if int64(len(cpus)) != tr.number(t, "watched-cpus") || tr.number(t, "wakes") != int64(len(tr.rows)) {
		t.Errorf("wakes by cpu %v, header %s cpus and %s wakes", cpus, tr.Text("watched-cpus"), tr.Text("wakes"))
	}
	for cpu, n := range cpus {
		if n != 20 {
			t.Errorf("cpu %s: %d wakes, want 20", cpu, n)
		}
	}
}

// In a new cpu group of version 1 the kernel refuses SCHED_FIFO, to root too
// (RT_GROUP_SCHED): the watch goes on, and says so.
func TestPauseWithoutRealTime(t *testing.T) {
	if os.Getenv(noRealTimeKey) != "" {
		tr := measure[datasets.Pause](t, "pause:of=host", "", probes.Plan{Count: 5})
		fmt.Println("scheduling: "+tr.Text("scheduling"), "lost: "+tr.Text(datasets.KeyLost))
		return
	}
	if err := fifo(0, 1, func() {}); err != nil {
		t.Skipf("needs SCHED_FIFO to be refused it: %v", err)
	}
	dir := newGroup(t, "cpu", "cpu.rt_runtime_us")
	child := exec.CommandContext(t.Context(), "sh", "-c", `echo $$ > "$1/cgroup.procs" && exec "$0" -test.run='^TestPauseWithoutRealTime$'`, os.Args[0], dir)
	child.Env = append(os.Environ(), noRealTimeKey+"=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"scheduling: SCHED_OTHER ", "lost: SCHED_FIFO 50 was refused (operation not permitted)", "cpu.rt_runtime_us is 0"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s\nwant %q in it", out, want)
		}
	}
}

const noRealTimeKey = "TICKMARK_TEST_NO_REAL_TIME"

func TestPauseOptionsThatMeanNothing(t *testing.T) {
	for spec, want := range map[string]string{
		"pause:pid=1":                   `pause: option "pid" says nothing about of=self: it is for of=process`,
		"pause:fifo=1":                  `pause: option "fifo" says nothing about of=self: it is for of=host and of=process`,
		"pause:of=host,log=x":           `pause: option "log" says nothing about of=host: it is for of=jvm`,
		"pause:of=process":              `pause: of=process: which? Give pid=NUMBER or cgroup=FOLDER`,
		"pause:of=process,pid=-1":       `pause: pid "-1": must be positive`,
		"pause:of=jvm":                  `pause: of=jvm: which? Give log=FILE, the JVM's GC log (-Xlog:gc*,safepoint:file=FILE)`,
		"pause:of=process,pid=1,fifo=0": "",
		"pause:fifo=100":                `pause: fifo "100": want 0 to 99`,
		"pause:of=hosts":                `pause: unknown kind of pause "hosts": did you mean "host"?`,
	} {
		_, _, err := probes.Probes().Parse("probe", spec)
		if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
			t.Errorf("%s:\n got %s\nwant %s", spec, got, want)
		}
	}
}

// newGroup makes a control group that has the controller and one of the files.
func newGroup(t *testing.T, controller string, files ...string) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup/" + controller, "/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		dir := filepath.Join(root, "tickmark-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		for _, file := range files {
			if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
				t.Cleanup(func() { removeGroup(t, dir) })
				return dir
			}
		}
		_ = os.Remove(dir)
	}
	t.Skipf("needs to make a control group with %s", strings.Join(files, " or "))
	return ""
}

// removeGroup waits until the kernel has let go of the processes that were in it.
func removeGroup(t *testing.T, dir string) {
	t.Helper()
	for range 1000 {
		if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s: could not be removed", dir)
}

func join(t *testing.T, dir string, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// quotaGroup makes a control group that may use so much of every period.
func quotaGroup(t *testing.T, quota, period time.Duration) string {
	t.Helper()
	dir := newGroup(t, "cpu", "cpu.cfs_quota_us", "cpu.max")
	us := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	set := func(file, value string) error { return os.WriteFile(filepath.Join(dir, file), []byte(value), 0o600) }
	if err := set("cpu.max", us(quota)+" "+us(period)); err != nil {
		if err := errors.Join(set("cpu.cfs_period_us", us(period)), set("cpu.cfs_quota_us", us(quota))); err != nil {
			t.Skipf("needs a quota of processor time: %v", err)
		}
	}
	// Before all others, so that it uses its time up at once.
	_, _ = set("cpu.weight", "10000"), set("cpu.shares", "262144")
	return dir
}
