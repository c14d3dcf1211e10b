package probes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
)

// againstServe records n exchanges with our own server under a fault.
func againstServe(t *testing.T, n int64, listen time.Duration, fault string) trace[datasets.Exchange] {
	t.Helper()
	f, _, err := serve.Faults().Parse("fault", fault)
	if err != nil {
		t.Fatal(err)
	}
	server, err := serve.Start(serve.Config{NTP: "127.0.0.1:0", Faults: []serve.Fault{f}, Seed: 1, Stratum: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	plan := probes.Plan{Count: n, Interval: time.Millisecond, Listen: datasets.Some(listen)}
	return measure[datasets.Exchange](t, "ntp", server.NTPAddr().String(), plan)
}

// θ is what the server's clock is off, up to half of what the path takes beyond the
// delay put into it: every clock here is the same one.
func TestOwnServerWithAKnownOffset(t *testing.T) {
	for _, c := range []struct {
		fault        string
		truth, floor time.Duration // θ, and the least δ
	}{
		{"offset:by=0s", 0, 0},
		{"offset:by=1234567ns", 1234567, 0},
		{"offset:by=-5s", -5 * time.Second, 0},
		{"offset:by=175200h", 175200 * time.Hour, 0}, // twenty years: the next era of NTP, from 2036
		// Asymmetry moves θ by half the difference.
		{"delay:out=3ms,back=1ms", time.Millisecond, 4 * time.Millisecond},
	} {
		var errs []time.Duration
		for _, e := range againstServe(t, 50, patience, c.fault).rows {
			theta, ok := e.Offset()
			delta, _ := e.Delay()
			if !ok || e.Outcome != datasets.Replied {
				t.Errorf("%s: attempt %d: %v %q", c.fault, e.Seq, e.Outcome, e.Why)
				continue
			}
			if (theta - c.truth).Abs() > (delta-c.floor)/2+1 { // the 1 ns by which a half is cut
				t.Errorf("%s: attempt %d: θ %v misses %v by more than half of δ %v beyond %v", c.fault, e.Seq, theta, c.truth, delta, c.floor)
			}
			errs = append(errs, theta-c.truth)
		}
		slices.Sort(errs)
		if len(errs) > 0 {
			t.Logf("%s: median error %v of %d", c.fault, errs[len(errs)/2], len(errs))
		}
	}
}

// Each malformed reply is an invalid sample that says why, and the recording is whole.
func TestOwnServerWithEveryMalformedReply(t *testing.T) {
	for fault, why := range map[string]string{
		"t3-before-t2:by=3s":    "before it received the request",
		"t3-before-t2:by=-3s":   "delay is negative",
		"wrong-origin":          "origin differs",
		"short:size=20":         "20 bytes are too short",
		"short:size=0":          "0 bytes are too short",
		"oversized:size=1000":   "1000 bytes in reply to 48",
		"kiss:code=INIT":        `kiss code "INIT"`,
		"dispersion:claim=20s":  "may be off by 20s",
		"dispersion:delay=100s": "may be off by 50s",
	} {
		tr := againstServe(t, 5, 500*time.Millisecond, fault) // a stray is waited behind
		for _, e := range tr.rows {
			if e.Outcome != datasets.Invalid || !strings.Contains(e.Why, why) {
				t.Errorf("%s: attempt %d: %v %q, want invalid %q", fault, e.Seq, e.Outcome, e.Why, why)
			}
			if strings.HasPrefix(fault, "t3") {
				if _, complete := e.Offset(); !complete {
					t.Errorf("%s: attempt %d: its raw stamps are lost", fault, e.Seq)
				}
			}
		}
		if len(tr.rows) != 5 {
			t.Errorf("%s: %d rows, want 5", fault, len(tr.rows))
		}
	}
}

func TestOwnServerThatRefuses(t *testing.T) {
	tr := againstServe(t, 5, patience, "kiss:code=DENY")
	if len(tr.rows) != 1 || tr.rows[0].Reference != "DENY" || !strings.Contains(tr.Text("stopped"), "DENY") {
		t.Errorf("%d rows, stopped %q", len(tr.rows), tr.Text("stopped"))
	}
}

func TestOwnServerThatLoses(t *testing.T) {
	for _, e := range againstServe(t, 5, 5*time.Millisecond, "loss:share=100%").rows {
		if e.Outcome != datasets.TimedOut || e.Elapsed != 0 {
			t.Errorf("attempt %d: %v after %v", e.Seq, e.Outcome, e.Elapsed)
		}
	}
}
