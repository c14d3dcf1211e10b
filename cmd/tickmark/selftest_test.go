package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

// seconds is an interval.
func seconds(v, lo, hi float64) analysis.Interval {
	return analysis.Interval{Value: datasets.Some(v), Lo: datasets.Some(lo), Hi: datasets.Some(hi), N: 500}
}

func modeTest(name, probe string, middle, tail analysis.Interval) *selfTest {
	return &selfTest{mode: stampMode{name, probe}, middle: middle, tail: tail}
}

func TestSelfTestSaysTheAnswerFirst(t *testing.T) {
	kernel := modeTest(modeInterleaved, "ntp:mode=interleaved", seconds(555e-9, 530e-9, 610e-9), seconds(3.56e-6, 2.5e-6, 5.1e-6))
	basic := modeTest(modeBasic, "ntp", seconds(1.6e-6, 1.44e-6, 1.77e-6), analysis.Interval{})
	const last = "A smaller offset says nothing. The bias of a mode goes into the bounds of what is measured in it."
	for name, c := range map[string]struct {
		tests []*selfTest
		want  []string
	}{
		"all": {[]*selfTest{basic, kernel}, []string{
			"This host's floor is 555 ns (|error| p50; 99 % within 3.56 µs), with probe ntp:mode=interleaved.",
			"With the default, ntp, it is 1.6 µs.", last,
		}},
		"the default is best": {[]*selfTest{basic}, []string{"This host's floor is 1.6 µs (|error| p50), with probe ntp.", last}},
		"none":                {nil, []string{"No mode gave enough exchanges to tell this host's own error."}},
	} {
		if diff := cmp.Diff(c.want, selfTestHeadline(c.tests)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Two modes whose intervals overlap are not ranked without a word, and a number that is
// refused names what it needs.
func TestSelfTestDoubts(t *testing.T) {
	interleaved := modeTest(modeInterleaved, "", seconds(1.0e-6, .9e-6, 1.1e-6), analysis.Interval{})
	basic := modeTest(modeBasic, "", seconds(1.2e-6, 1.1e-6, 1.3e-6), analysis.Interval{})
	user := modeTest(modeUser, "", seconds(9e-6, 8e-6, 10e-6), analysis.Interval{Warnings: []string{"need at least 368 samples for a 95% interval"}})
	want := []string{
		"interleaved and basic cannot be told apart by these exchanges: their intervals of |error| p50 overlap",
		"user: |error| p99 need at least 368 samples for a 95% interval",
	}
	if diff := cmp.Diff(want, selfTestDoubts([]*selfTest{interleaved, basic, user})); diff != "" {
		t.Error(diff)
	}
	if doubts := selfTestDoubts(nil); doubts != nil {
		t.Errorf("of nothing: %q", doubts)
	}
	if w := untestedHardware([]string{"eth0", "eth1"}); len(w) != 1 || !strings.HasPrefix(w[0], "hardware: eth0, eth1 can stamp packets, but none on loopback meets a NIC") {
		t.Errorf("%q", w)
	}
}

// Where a way to take stamps is missing, the others are tested; elsewhere than on Linux
// only the portable engine is there.
func TestSelfTestLeavesOutWhatIsNotHere(t *testing.T) {
	var talk bytes.Buffer
	tests, warnings, err := runSelfTests(t.Context(), &streams{err: &talk}, []stampMode{
		{modeInterleaved, "ntp:engine=portable,mode=interleaved"}, {modeBasic, "ntp:engine=portable"},
	})
	if err != nil || len(tests) != 1 || tests[0].mode.name != modeBasic || len(warnings) != 1 ||
		!strings.HasPrefix(warnings[0], "interleaved: not here: ntp: the portable engine has no mode=interleaved") {
		t.Errorf("%d tests, %q, %v", len(tests), warnings, err)
	}
}

// Ctrl-C keeps and prints the modes that were tested before it.
func TestInterruptedSelfTestKeepsWhatIsDone(t *testing.T) {
	t.Setenv("TICKMARK_STATE", t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stdout, stderr bytes.Buffer
	s := &streams{out: &stdout, err: &stderr}
	tests, warnings, err := runSelfTests(ctx, s, stampModes())
	if len(tests) != 0 || !errors.Is(err, errInterrupted) || !slices.Contains(warnings, "stopped: 4 of 4 modes were not tested") {
		t.Errorf("%d tests, %q, %v", len(tests), warnings, err)
	}
	if err := tellSelfTests(s, &output{format: "csv"}, nil, nil, errInterrupted); !errors.Is(err, errInterrupted) || stdout.Len() > 0 {
		t.Errorf("of nothing: %v, %q", err, &stdout)
	}
	done := kept(modeBasic, 700)
	if err := tellSelfTests(s, &output{format: "csv"}, []*selfTest{done}, warnings, errInterrupted); !errors.Is(err, errInterrupted) {
		t.Error(err)
	}
	if !strings.Contains(stdout.String(), "\nbasic,500,7e-07,") {
		t.Errorf("printed %q", &stdout)
	}
	if k, known, err := knownTest(time.Now(), modeBasic); !known || k.Bias != 700 || err != nil {
		t.Errorf("kept %v %v, %v", k.Bias, known, err)
	}
}
