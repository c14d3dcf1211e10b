package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

// kept is a self-test with a bias.
func kept(mode string, bias time.Duration) *selfTest {
	v := func(d time.Duration) datasets.Optional[float64] { return datasets.Some(d.Seconds()) }
	return &selfTest{mode: mode, bias: analysis.Interval{Value: v(bias), Lo: v(bias - 5), Hi: v(bias + 5), N: 500}, header: "t1=user t4=kernel"}
}

// A result is known for a week on the same kernel and processor, by its mode, and a
// later one takes its place.
func TestSelfTestsAreKeptForAWeek(t *testing.T) {
	t.Setenv("TICKMARK_STATE", filepath.Join(t.TempDir(), "deep", "state"))
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	if _, known, err := knownTest(now, modeBasic); known || err != nil {
		t.Errorf("known before any: %v, %v", known, err)
	}
	if err := keepSelfTests(now, kept(modeBasic, 700), kept(modeUser, -9000)); err != nil {
		t.Fatal(err)
	}
	if err := keepSelfTests(now.Add(time.Hour), kept(modeBasic, 800)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode  string
		after time.Duration
		want  time.Duration
		known bool
	}{
		{modeBasic, 2 * time.Hour, 800, true},
		{modeUser, 2 * time.Hour, -9000, true},
		{modeKernel, 2 * time.Hour, 0, false},
		{modeBasic, lastsFor + time.Hour - 1, 800, true},
		{modeBasic, lastsFor + time.Hour, 0, false},
		{modeUser, lastsFor, 0, false},
		{modeBasic, -time.Hour, 0, false}, // made in the future: the clock was set back
	} {
		k, known, err := knownTest(now.Add(c.after), c.mode)
		if known != c.known || err != nil || known && k.Bias != c.want {
			t.Errorf("%s after %v: %v %v, %v", c.mode, c.after, k.Bias, known, err)
		}
	}
}

func TestASelfTestOfAnotherKernelIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TICKMARK_STATE", dir)
	now := time.Now()
	if err := keepSelfTests(now, kept(modeBasic, 700)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "selftest.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(b), hostNow().CPU, "another processor", 1)
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, known, err := knownTest(now, modeBasic); known || err != nil {
		t.Errorf("known %v, %v", known, err)
	}
}

// What cannot be read is a doubt, not the end of a measurement, and is written anew.
func TestABrokenStateIsADoubt(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TICKMARK_STATE", dir)
	if err := os.WriteFile(filepath.Join(dir, "selftest.json"), []byte(`{"self_tests": [`), 0o600); err != nil {
		t.Fatal(err)
	}
	facts, doubt := selfTestFacts(time.Now(), "ntp:mode=basic")
	if facts != nil || !strings.Contains(doubt, "cannot be read") || !strings.Contains(doubt, "tickmark selftest writes it anew") {
		t.Errorf("%v, %q", facts, doubt)
	}
	if err := keepSelfTests(time.Now(), kept(modeBasic, 1)); err != nil {
		t.Fatal(err)
	}
	if _, doubt := selfTestFacts(time.Now(), "ntp:mode=basic"); doubt != "" {
		t.Error(doubt)
	}
}

// Each way to take stamps gets the bias that was measured in that way, and what no
// self-test covers gets none.
func TestModeOfAProbe(t *testing.T) {
	for text, want := range map[string]string{
		"ntp": modeBasic, "ntp:engine=portable": "", "ntp:stamps=user": modeUser, "ntp:stamps=kernel": modeKernel,
		"ntp:mode=interleaved": modeInterleaved, "ntp:mode=interleaved,stamps=hardware": "", "ntp:stamps=hardware": "",
		"ptp": modeInterleaved, "ptp:stamps=user": modeUser, "ptp:stamps=hardware": "", "ptp:mode=listen": "",
		"phc": "", "udp": "", "pause": "",
	} {
		_, canonical, err := probes.Probes().Parse("probe", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := modeOf(canonical); got != want {
			t.Errorf("%s (%s): %q, want %q", text, canonical, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	for age, want := range map[time.Duration]string{
		0: "less than a minute ago", time.Minute: "1 min ago", 119 * time.Minute: "119 min ago", 2 * time.Hour: "2 hours ago", 50 * time.Hour: "2 days ago",
	} {
		if got := ago(age); got != want {
			t.Errorf("%v: %q, want %q", age, got, want)
		}
	}
}
