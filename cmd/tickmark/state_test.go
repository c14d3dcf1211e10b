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
	return &selfTest{mode: stampMode{name: mode}, bias: analysis.Interval{Value: v(bias), Lo: v(bias - 5), Hi: v(bias + 5), N: 500}, header: "t1=user t4=kernel"}
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

// A result of the future was made before the clock was set back: it is dropped with
// the next one, or it would be believed again one day.
func TestASelfTestOfTheFutureIsDropped(t *testing.T) {
	t.Setenv("TICKMARK_STATE", t.TempDir())
	now := time.Now()
	if err := keepSelfTests(now.AddDate(1, 0, 0), kept(modeUser, 5)); err != nil {
		t.Fatal(err)
	}
	if err := keepSelfTests(now, kept(modeBasic, 700)); err != nil {
		t.Fatal(err)
	}
	s, err := readState()
	if err != nil || len(s.SelfTests) != 1 || s.SelfTests[0].Mode != modeBasic {
		t.Errorf("%+v, %v", s, err)
	}
}

// The interface is part of what a result holds for, beside the mode.
func TestResultsOfOtherInterfacesStay(t *testing.T) {
	t.Setenv("TICKMARK_STATE", t.TempDir())
	now := time.Now()
	other := hostNow()
	other.Mode, other.NIC, other.At, other.Bias = modeBasic, "eth0", now, 33
	if err := writeState(&stateFile{[]keptTest{other}}); err != nil {
		t.Fatal(err)
	}
	if _, known, err := knownTest(now, modeBasic); known || err != nil {
		t.Errorf("known %v, %v", known, err)
	}
	if err := keepSelfTests(now, kept(modeBasic, 700)); err != nil {
		t.Fatal(err)
	}
	s, err := readState()
	if err != nil || len(s.SelfTests) != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// FuzzState: whatever is in the file, it is refused, or what later headers get of it is a
// bias that an instrument may have, on one line, for as long as it holds; and what is
// written is what is read.
func FuzzState(f *testing.F) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	f.Add([]byte(`{"self_tests": [{"mode": "basic", "kernel": "6.12", "cpu": "c", "nic": "lo", "at": "2026-12-01T11:00:00Z", "bias_ns": 1541, "says": "bias"}]}`))
	f.Add([]byte(`{"self_tests": [{"mode": "basic", "at": "2026-12-01T11:00:00Z", "bias_ns": 4611686018427387904, "says": "a\nself-bias: 0s"}]}`))
	f.Add([]byte(`{"self_tests": [{"mode": "basic", "at": "9999-12-31T23:59:59Z", "bias_ns": -1}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		t.Setenv("TICKMARK_STATE", t.TempDir())
		s, err := parseState(b)
		if err != nil {
			return
		}
		for i := range s.SelfTests { // as if they were all of this host
			s.SelfTests[i].Kernel, s.SelfTests[i].CPU, s.SelfTests[i].NIC = hostNow().Kernel, hostNow().CPU, hostNow().NIC
		}
		if err := writeState(s); err != nil {
			t.Skip("a time that JSON has no form for")
		}
		again, err := readState()
		if err != nil || len(again.SelfTests) != len(s.SelfTests) {
			t.Fatalf("%+v became %+v, %v", s, again, err)
		}
		facts, doubt := selfTestFacts(now, "ntp:mode=basic")
		if doubt != "" {
			t.Fatal(doubt)
		}
		h := &datasets.Header{}
		for _, field := range facts {
			h.Set(field.Key, field.Value)
		}
		bias, known := h.Duration(datasets.KeySelfBias)
		if known != (facts != nil) || bias.Abs() >= time.Second {
			t.Errorf("bias %v %v of %q", bias, known, facts)
		}
		for _, k := range again.SelfTests {
			if age := now.Sub(k.At); k.Mode == modeBasic && known && k.Bias == bias && age >= 0 && age < lastsFor {
				return
			}
		}
		if known {
			t.Errorf("bias %v is of no self-test of the last week: %+v", bias, again)
		}
	})
}

// A bias that no instrument has is a broken file, and not a term of later bounds.
func TestABiasOfHoursIsABrokenState(t *testing.T) {
	_, err := parseState([]byte(`{"self_tests": [{"mode": "basic", "at": "2026-12-01T11:00:00Z", "bias_ns": 3600000000000}]}`))
	if err == nil || !strings.Contains(err.Error(), "bias 1h0m0s is no self-test") {
		t.Error(err)
	}
}

// Each way to take stamps gets the bias that was measured in that way, and what no
// self-test covers gets none, and says so.
func TestModeOfAProbe(t *testing.T) {
	const nic, heard, portable = "none reaches the stamps of a NIC", "none covers what is heard of others' packets", "none is made of the portable engine"
	for text, want := range map[string][2]string{
		"ntp": {modeBasic}, "ntp:engine=portable": {"", portable}, "ntp:stamps=user": {modeUser}, "ntp:stamps=kernel": {modeKernel},
		"ntp:mode=interleaved": {modeInterleaved}, "ntp:mode=interleaved,stamps=kernel": {modeInterleaved},
		"ntp:mode=interleaved,stamps=hardware": {"", nic}, "ntp:stamps=hardware": {"", nic},
		"ptp": {modeInterleaved}, "ptp:stamps=user": {modeUser}, "ptp:stamps=hardware": {"", nic}, "ptp:mode=listen": {"", heard},
		"ptp:server-stamps=hardware": {modeInterleaved},
		"phc":                        {}, "udp": {}, "pause": {},
	} {
		_, canonical, err := probes.Probes().Parse("probe", text)
		if err != nil {
			t.Fatal(err)
		}
		if mode, why := modeOf(canonical); mode != want[0] || why != want[1] {
			t.Errorf("%s (%s): %q %q, want %q", text, canonical, mode, why, want)
		}
		facts, _ := selfTestFacts(time.Now(), canonical)
		if told := len(facts) > 0 && facts[0].Key == datasets.KeySelfTest && facts[0].Value == want[1]; told != (want[1] != "") {
			t.Errorf("%s: header %q, want to hear %q", text, facts, want[1])
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
