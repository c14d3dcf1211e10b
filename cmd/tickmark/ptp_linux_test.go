package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/probes/netlab"
)

// ptp4u counts TAI and never says how far ahead of UTC that is: what is read of it is
// doubted, unless the user says it.
func TestClocksDoubtsTAI(t *testing.T) {
	lab := netlab.New(t)
	netlab.PTP4U(t, lab.Server, "37.001234567s")
	tickmark := tickmarkCommand(t)
	for spec, doubted := range map[string]bool{"ptp:mode=sptp": true, "ptp:mode=sptp,utc-offset=37s": false} {
		path := filepath.Join(t.TempDir(), "ptp.trace")
		if out, err := lab.Client.Run(t, tickmark, "probe", spec, "-o", path, "--count", "50", "--interval", "5ms", lab.Server.Addr.String()); err != nil {
			t.Fatalf("%s: %v: %s", spec, err, out)
		}
		out, err := lab.Client.Run(t, tickmark, "clocks", path)
		if err != nil || strings.Contains(out, "TAI/UTC mismatch?") != doubted {
			t.Errorf("%s: %v: %s", spec, err, out)
		}
	}
}

// Who lacks a right is told, in one line, which and how to get it.
func TestPTPWithoutRights(t *testing.T) {
	lab := netlab.New(t)
	// A program of its own: who has no rights cannot be led to it by the name of ours.
	tickmark := filepath.Join(t.TempDir(), "tickmark")
	if out, err := exec.Command("go", "build", "-o", tickmark, ".").CombinedOutput(); err != nil {
		t.Skipf("needs the go command to build a program: %v: %.200s", err, out)
	}
	for want, args := range map[string][]string{
		"setcap cap_net_bind_service+ep": {"ptp:mode=unicast", lab.Server.Addr.String()},
		"setcap cap_net_raw+ep":          {"ptp:mode=listen", lab.Client.Interface},
	} {
		out, err := lab.Client.With("TICKMARK_STATE=/none").Unprivileged(t, tickmark, "probe", args[0], "--count", "1", args[1])
		if err == nil || !strings.Contains(out, want) || strings.Count(strings.TrimSpace(out), "\n") > 0 {
			t.Errorf("%v: %v: %q", args, err, out)
		}
	}
}
