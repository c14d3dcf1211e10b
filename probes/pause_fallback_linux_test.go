package probes_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

const nobodyKey = "TICKMARK_TEST_NOBODY"

// Without rights the threads run beside all other programs, and the header says so, and
// what to do.
func TestPauseOfAHostWithoutRights(t *testing.T) {
	if os.Getenv(nobodyKey) != "" {
		tr := measure[datasets.Pause](t, "pause:of=host", "", probes.Plan{Count: 5})
		fmt.Printf("%s of %d CPUs, %s, lost: %s\n", tr.Text("watched-cpus"), runtime.NumCPU(), tr.Text("scheduling"), tr.Text(datasets.KeyLost))
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to become nobody")
	}
	self, err := os.Open(os.Args[0]) // whose folder is for root alone
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	const nobody = 65534
	child := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^TestPauseOfAHostWithoutRights$")
	child.Dir = "/"
	child.Env = []string{nobodyKey + "=1"}
	child.ExtraFiles = []*os.File{self}
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := fmt.Sprintf("%d of %d CPUs, SCHED_OTHER, lost: SCHED_FIFO 50 was refused (operation not permitted): waiting behind other programs counts as pause; needs cap_sys_nice", runtime.NumCPU(), runtime.NumCPU())
	if !strings.Contains(string(out), want) {
		t.Errorf("%s\nwant %q in it", out, want)
	}
}

// Looking leaves hardly any garbage, so memory stays flat however long it goes on.
func TestPauseTakesNoMemory(t *testing.T) {
	child := started(t, "sleep", "1000")
	log := t.TempDir() + "/gc.log"
	if err := os.WriteFile(log, []byte("[0.010s][info][gc] Using ZGC\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec  string
		looks int64
		most  float64 // bytes a look
	}{
		{"pause:of=self,every=100us,min=1h", 1000, 256},
		{"pause:of=host,every=100us,min=1h", 1000, 256},
		{fmt.Sprintf("pause:of=process,every=200us,min=1h,pid=%d", child.Pid), 1000, 512}, // new threads are looked for
		{"pause:of=vm,min=1h", 40, 1024},
		{"pause:of=jvm,min=1h,log=" + log, 40, 2048}, // what name the log has now
	} {
		t.Run(c.spec, func(t *testing.T) {
			took := func(looks int64) float64 {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				measure[datasets.Pause](t, c.spec, "", probes.Plan{Count: looks})
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			took(1)
			few, many := took(c.looks), took(2*c.looks)
			each := (many - few) / float64(c.looks)
			t.Logf("%.1f bytes a look", each)
			if each > c.most {
				t.Errorf("%.1f bytes a look, want at most %v", each, c.most)
			}
		})
	}
}
