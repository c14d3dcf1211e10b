package probes

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The probes on NICs with clocks of their own, which qemu emulates: PHC, PTP and NTP in
// hardware, each held to what the clocks were set to (testdata/lab).
func TestHardwareLab(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a guest for 90 s: left out by -short")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs go, to build what runs in the guest")
	}
	dir := t.TempDir()
	tickmark, nic, own := filepath.Join(dir, "tickmark"), filepath.Join(dir, "nic.test"), filepath.Join(dir, "probes.test")
	for _, args := range [][]string{{"build", "-o", tickmark, "../cmd/tickmark"}, {"test", "-c", "-o", nic, "./nic"}, {"test", "-c", "-o", own, "."}} {
		c := exec.Command("go", args...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v: %s", args[0], err, out)
		}
	}
	lab := filepath.Join(dir, "lab")
	if out, err := exec.Command("go", "build", "-o", lab, "./testdata/lab").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), lab, "testdata/lab/scenario.sh", tickmark, nic, own).CombinedOutput()
	const unavailable = 69
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == unavailable {
		_, why, _ := strings.Cut(string(out), "lab skipped: ")
		t.Skip("lab skipped: " + strings.TrimSpace(why))
	}
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("the lab: %v", err)
	}
	if strings.Contains(string(out), "FAIL") || !strings.Contains(string(out), "--- PASS: TestHardware") { // its last
		t.Error("the scenario failed, or did not come to its end")
	}
}
