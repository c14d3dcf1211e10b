package probes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/tickmark/tickmark/probes/netlab"
)

// sleepLoop makes this test binary a program that does nothing but sleep 10 ms, over and
// over, for as long as it says.
const sleepLoop = "TICKMARK_SLEEP_LOOP"

func TestSleepLoop(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(sleepLoop))
	if err != nil {
		t.Skip("is a program of another test, not one")
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// What 100 probes a second cost, recorded to a file, beside a bare loop of sleeps of 10 ms:
// less than that is not to be had by waking for each.
func TestLabBesideASleepLoop(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv(besidePeers))
	if err != nil {
		t.Skipf("takes minutes: make bench-peers runs it (%s=30s)", besidePeers)
	}
	lab := netlab.New(t)
	tickmark := filepath.Join(t.TempDir(), "tickmark")
	if out, err := exec.Command("go", "build", "-o", tickmark, "../cmd/tickmark").CombinedOutput(); err != nil {
		t.Skipf("needs the go command to build tickmark: %v: %.200s", err, out)
	}
	at := lab.Server.Addr.String() + ":9900"
	lab.Server.Start(t, tickmark, "serve", "--udp", at)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	probe := func(name, spec string) (string, []string) {
		return name, []string{tickmark, "probe", spec, at, "--interval", "10ms", "--duration", length.String(), "-o", filepath.Join(t.TempDir(), "cost.trace")}
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	run := func(name string, command []string) {
		_, cpu := timed(t, lab, length, command[0], command[1:]...)
		fmt.Fprintf(w, "%s\t%.2f %%\t\n", name, 100*cpu.Seconds()/length.Seconds())
	}
	lab.Client = lab.Client.With(sleepLoop + "=" + length.String())
	run("sleep 10 ms, over and over", []string{self, "-test.run", "^TestSleepLoop$"})
	run(probe("tickmark, 100/s, user stamps", "udp:stamps=user"))
	run(probe("tickmark, 100/s, kernel stamps", "udp"))
	run(probe("tickmark, 100/s, user stamps, no spin", "udp:stamps=user,spin=0s"))
	w.Flush()
	t.Logf("of one core\n%s", out.String())
}
