package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// A real chronyd under NTS: every exchange is authentic, the store of cookies never
// runs dry, and interleaved mode is as exact as without; a certificate of somebody
// else is refused before anything is recorded.
func TestLabNTS(t *testing.T) {
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	cert, key := netlab.SelfSigned(t, lab.Server.Addr)
	target := chronydOn(t, lab, "ntsservercert "+cert+"\nntsserverkey "+key+"\nntsprocesses 1")
	plan := Plan{Count: 200, Interval: 2 * time.Millisecond, Listen: datasets.Some(300 * time.Millisecond)}
	for _, mode := range []string{"basic", "interleaved"} {
		tape := &ntpTape{}
		p := parseNTP(t, "ntp:nts=true,ca="+cert+",mode="+mode)
		if err := lab.Client.Do(func() error { return p.Run(t.Context(), target.String(), plan, tape) }); err != nil {
			t.Fatal(err)
		}
		var thetas []time.Duration
		for _, e := range tape.rows {
			if theta, ok := e.Offset(); ok && e.Outcome == datasets.Replied {
				thetas = append(thetas, theta.Abs())
			}
		}
		if len(thetas) == 0 {
			t.Fatalf("none is authentic: %s", lastWhy(tape.rows))
		}
		t.Logf("%s: %d of %d authentic, |θ| p50 %v; %s; trailer %v", mode, len(thetas), len(tape.rows), quantileOf(thetas, .5), tape.header.Text("nts"), tape.trailer)
		if len(thetas) < 199 || quantileOf(thetas, .5) > 20*time.Microsecond {
			t.Errorf("%s: %d of %d are authentic, |θ| p50 %v: %s", mode, len(thetas), len(tape.rows), quantileOf(thetas, .5), lastWhy(tape.rows))
		}
	}

	other, _ := netlab.SelfSigned(t, lab.Server.Addr)
	tape := &ntpTape{}
	p := parseNTP(t, "ntp:nts=true,ca="+other)
	err := lab.Client.Do(func() error { return p.Run(t.Context(), target.String(), plan, tape) })
	if err == nil || !strings.Contains(err.Error(), "nts: handshake with 10.77.0.1:4460") || tape.header != nil {
		t.Errorf("another's certificate: %v", err)
	}
}
