package probes

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// Real servers whose offset is known: every clock here is the one clock of this
// kernel, so the truth is 0 or what the server was told to add. The limits are those
// that lab measurements with this engine support: |median error| ≤ 2 µs on a veth.
const labLimit = 2 * time.Microsecond

// A real chronyd on the other end of the cable has our own clock: θ = 0.
func TestLabChronyd(t *testing.T) {
	netlab.Need(t, "chronyd")
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o750); err != nil { // chronyd refuses a wider one
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "chrony.conf")
	text := strings.ReplaceAll(`local stratum 3
allow 10.77.0.0/24
cmdport 0
bindcmdaddress RUN/chronyd.sock
pidfile RUN/chronyd.pid
driftfile RUN/chrony.drift
`, "RUN", dir)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ended := lab.Server.Start(t, "chronyd", "-d", "-x", "-u", "root", "-f", conf)
	target := netip.AddrPortFrom(lab.Server.Addr, 123)
	waitForNTP(t, lab.Client, target, ended)
	measureLab(t, lab.Client, target, 0)
}

// facebook's ntpresponder adds an offset to both its stamps.
func TestLabKnownOffset(t *testing.T) {
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	const offset = 1234567 * time.Nanosecond
	ended := lab.Server.Start(t, ntpresponder(t), "-interface", lab.Server.Interface, "-manage-loopback=false",
		"-ip", lab.Server.Addr.String(), "-port", "1124", "-workers", "4", "-extraoffset", offset.String(),
		"-monitoringport", "9101", "-loglevel", "warning")
	target := netip.AddrPortFrom(lab.Server.Addr, 1124)
	waitForNTP(t, lab.Client, target, ended)
	measureLab(t, lab.Client, target, offset)
}

// withoutRaceDetector runs the test in a binary built without the race detector and
// returns true, if this one has it: its instrumentation runs between T1 and the
// send, and adds some 2 µs to θ.
func withoutRaceDetector(t *testing.T) bool {
	t.Helper()
	if !raceDetector {
		return false
	}
	binary := filepath.Join(t.TempDir(), "plain.test")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Skipf("needs the go command to build a test without the race detector: %v: %.200s", err, out)
	}
	out, err := exec.Command(binary, "-test.v", "-test.run", "^"+t.Name()+"$").CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("without the race detector: %v", err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skip("skipped without the race detector too")
	}
	return true
}

// ntpresponder builds the server from its module. Its own dependencies are not ours,
// so it is built at the version of our go.mod outside our module.
func ntpresponder(t *testing.T) string {
	t.Helper()
	version, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/facebook/time").Output()
	if err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "install", "github.com/facebook/time/cmd/ntpresponder@"+strings.TrimSpace(string(version)))
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("facebook's ntpresponder cannot be built here: %v: %.200s", err, out)
	}
	return filepath.Join(dir, "ntpresponder")
}

// waitForNTP returns when the server gives its first sound reply.
func waitForNTP(t *testing.T, client netlab.Namespace, target netip.AddrPort, ended <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	go func() {
		select {
		case <-ended:
			stop()
		case <-ctx.Done():
		}
	}()
	ready := false
	tape := &ntpTape{each: func(e *datasets.Exchange) error {
		if e.Outcome == datasets.Replied {
			ready = true
			stop()
		}
		return nil
	}}
	plan := Plan{Interval: 20 * time.Millisecond, Listen: datasets.Some(200 * time.Millisecond)}
	p := parseNTP(t, "ntp")
	if err := client.Do(func() error { return p.Run(ctx, target.String(), plan, tape) }); err != nil {
		t.Fatal(err)
	}
	if !ready {
		last := "none"
		if n := len(tape.rows); n > 0 {
			last = fmt.Sprintf("%v %q", tape.rows[n-1].Outcome, tape.rows[n-1].Why)
		}
		t.Fatalf("the server gave no sound reply; of %d the last was %s", len(tape.rows), last)
	}
}

// measureLab makes 1000 exchanges and holds their median to the truth; the machine
// is shared, so the best of three rounds counts. What must never happen in any round
// is an error beyond half the delay.
func measureLab(t *testing.T, client netlab.Namespace, target netip.AddrPort, truth time.Duration) {
	t.Helper()
	p := parseNTP(t, "ntp")
	for round := range 3 {
		tape := &ntpTape{}
		plan := Plan{Count: 1000, Interval: 2 * time.Millisecond}
		if err := client.Do(func() error { return p.Run(t.Context(), target.String(), plan, tape) }); err != nil {
			t.Fatal(err)
		}
		var errs, delays, stalls []time.Duration
		for _, e := range tape.rows {
			theta, ok := e.Offset()
			delta, _ := e.Delay()
			if !ok || e.Outcome != datasets.Replied {
				t.Logf("attempt %d: %v %q", e.Seq, e.Outcome, e.Why)
				continue
			}
			if (theta - truth).Abs() > delta/2+1 { // the 1 ns by which a halved delay is cut
				t.Errorf("attempt %d: θ %v misses the truth %v by more than half of δ %v", e.Seq, theta, truth, delta)
			}
			errs, delays, stalls = append(errs, theta-truth), append(delays, delta), append(stalls, e.Stall)
		}
		if len(errs) < 200 {
			t.Fatalf("%d answers of %d attempts: too few to judge", len(errs), len(tape.rows))
		}
		bias := quantileOf(errs, .5)
		t.Logf("round %d: n %d, θ − truth p1 %v p50 %v p99 %v; δ p50 %v p99 %v; arrival to read p50 %v; %s, skipped %s",
			round, len(errs), quantileOf(errs, .01), bias, quantileOf(errs, .99),
			quantileOf(delays, .5), quantileOf(delays, .99), quantileOf(stalls, .5), tape.header.Text(datasets.KeyStamps), tape.trailer["skipped"])
		if bias.Abs() <= labLimit {
			return
		}
	}
	t.Errorf("the median misses the truth by more than %v in all of three rounds", labLimit)
}

// quantileOf sorts d and returns the smallest value with a share of at least q at or
// below it.
func quantileOf(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}
