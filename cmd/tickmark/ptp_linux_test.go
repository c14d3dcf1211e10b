package main

import (
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
