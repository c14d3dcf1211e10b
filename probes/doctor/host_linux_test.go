package doctor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/probes/netlab"
)

// TestThisHost examines the machine of the test, whatever it is.
func TestThisHost(t *testing.T) {
	d := Examine(ThisHost())
	wellFormed(t, d)
	wellWorded(t, d)
	for _, subject := range []string{"clock source", "time daemons", "kernel clock", "TAI offset", "rights", "machine", "cpu quota", "suspend"} {
		if !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Subject == subject }) {
			t.Errorf("nothing is said of %s", subject)
		}
	}
	if d.Stamps == "" {
		t.Error("what can be stamped is not said")
	}
}

// TestTwoDaemonsThatRun finds two processes that go by the names of time daemons, and
// not the third that only measures.
func TestTwoDaemonsThatRun(t *testing.T) {
	sleep, err := os.ReadFile(netlab.Need(t, "sleep"))
	check(t, err)
	start := func(name string, args ...string) string {
		path := filepath.Join(t.TempDir(), name)
		check(t, os.WriteFile(path, sleep, 0o755))
		c := exec.Command(path, append([]string{"3600"}, args...)...)
		check(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		return name + " (pid " + strconv.Itoa(c.Process.Pid) + ")"
	}
	first, second := start("openntpd"), start("ntp-daemon")
	v := &Visit{Host: ThisHost(), unread: map[string]int{}}
	v.running()
	for _, name := range []string{first, second} {
		if !slices.ContainsFunc(v.processes, func(p process) bool { return p.String() == name }) {
			t.Skipf("the command sleep does not keep the name %s", name)
		}
	}
	for _, f := range Examine(ThisHost()).Findings {
		if f.Subject == "time daemons" && f.State == Problem && strings.Contains(f.What, first) && strings.Contains(f.What, second) &&
			strings.Contains(f.What, "steer CLOCK_REALTIME") {
			return
		}
	}
	t.Errorf("%s and %s are no problem: %+v", first, second, Examine(ThisHost()).Findings)
}

// TestChronydThatOnlyMeasures: the real one, with -x, steers nothing.
func TestChronydThatOnlyMeasures(t *testing.T) {
	lab := netlab.New(t)
	dir := t.TempDir()
	conf := filepath.Join(dir, "chrony.conf")
	check(t, os.WriteFile(conf, []byte("local stratum 3\nallow 10.77.0.0/24\ncmdport 0\nbindcmdaddress /\npidfile "+dir+"/pid\n"), 0o644))
	ended := lab.Server.Start(t, "chronyd", "-d", "-x", "-u", "root", "-f", conf)
	v, p := waitForProcess(t, ended, "chronyd", conf)
	if slices.ContainsFunc(v.steerings(), func(s steering) bool { return s.process.pid == p.pid }) {
		t.Errorf("%s %q is said to steer a clock", p, p.args)
	}
}

// waitForProcess returns a visit that has seen the process of this name and argument.
func waitForProcess(t *testing.T, ended <-chan struct{}, name, arg string) (*Visit, process) {
	t.Helper()
	every := time.NewTicker(10 * time.Millisecond)
	defer every.Stop()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		v := &Visit{Host: ThisHost(), unread: map[string]int{}}
		at := slices.IndexFunc(v.running(), func(p process) bool { return p.name == name && slices.Contains(p.args, arg) })
		if at >= 0 {
			return v, v.processes[at]
		}
		select {
		case <-ended:
			t.Fatalf("%s ended at once", name)
		case <-every.C:
		}
	}
	t.Fatalf("%s did not come up", name)
	return nil, process{}
}

// TestOnlyReads: asking the kernel how its clock is steered changes nothing of it.
func TestOnlyReads(t *testing.T) {
	before, err := readDiscipline()
	check(t, err)
	after, err := readDiscipline()
	check(t, err)
	if before.RatePPM != after.RatePPM || before.TAI != after.TAI || before.Unsynchronised != after.Unsynchronised {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if slept, err := readSuspended(); err != nil || slept < -shortest {
		t.Errorf("slept %v, %v", slept, err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
