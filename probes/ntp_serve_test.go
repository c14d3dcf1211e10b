package probes_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
)

// againstServe records n exchanges with our own server under a fault.
func againstServe(t *testing.T, text string, n int64, listen time.Duration, fault string) trace[datasets.Exchange] {
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
	return measure[datasets.Exchange](t, text, server.NTPAddr().String(), plan)
}

// ntpModes are the ways to ask our own server, which has departures stamped on Linux.
func ntpModes() []string {
	if runtime.GOOS == "linux" {
		return []string{"ntp", "ntp:mode=interleaved"}
	}
	return []string{"ntp"}
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
		{"reorder:share=1,by=2ms", -time.Millisecond, 2 * time.Millisecond},
		{"freeze:after=0s,every=20ms,for=10ms", 0, 0},
		{"duplicate:share=1,copies=3", 0, 0},
	} {
		for _, text := range ntpModes() {
			t.Run(text+" "+c.fault, func(t *testing.T) { checkKnownOffset(t, text, c.fault, c.truth, c.floor) })
		}
	}
}

func checkKnownOffset(t *testing.T, text, fault string, truth, floor time.Duration) {
	t.Helper()
	var errs []time.Duration
	tr := againstServe(t, text, 50, patience, fault)
	for _, e := range tr.rows {
		theta, ok := e.Offset()
		delta, _ := e.Delay()
		if !ok && strings.Contains(text, "interleaved") && e.Seq == 49 {
			continue // the T3 of the last one would come with the reply behind it
		}
		if !ok || e.Outcome != datasets.Replied {
			t.Errorf("attempt %d: %v %q", e.Seq, e.Outcome, e.Why)
			continue
		}
		if (theta - truth).Abs() > (delta-floor)/2+1 { // the 1 ns by which a half is cut
			t.Errorf("attempt %d: θ %v misses %v by more than half of δ %v beyond %v", e.Seq, theta, truth, delta, floor)
		}
		errs = append(errs, theta-truth)
	}
	slices.Sort(errs)
	if len(errs) > 0 {
		t.Logf("median error %v of %d", errs[len(errs)/2], len(errs))
	}
	if n := tr.Text("interleaved"); strings.Contains(text, "interleaved") && n != "49" {
		t.Errorf("%s exchanges of 50 were interleaved, want all but the last", n)
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
		tr := againstServe(t, "ntp", 5, 500*time.Millisecond, fault) // a stray is waited behind
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
	tr := againstServe(t, "ntp", 5, patience, "kiss:code=DENY")
	if len(tr.rows) != 1 || tr.rows[0].Reference != "DENY" || !strings.Contains(tr.Text("stopped"), "DENY") {
		t.Errorf("%d rows, stopped %q", len(tr.rows), tr.Text("stopped"))
	}
}

func TestOwnServerThatLoses(t *testing.T) {
	for _, e := range againstServe(t, "ntp", 5, 5*time.Millisecond, "loss:share=100%").rows {
		if e.Outcome != datasets.TimedOut || e.Elapsed != 0 {
			t.Errorf("attempt %d: %v after %v", e.Seq, e.Outcome, e.Elapsed)
		}
	}
}
