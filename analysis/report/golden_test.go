package report

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata")

// The documents stand for what commands print; testdata holds how each reads.
func TestGolden(t *testing.T) {
	for name, d := range map[string]*Document{
		"tune": tune(), "sweep": sweep(), "show": show(), "storm": storm(), "clocks": clocks(), "doctor": doctor(), "prose": prose(),
		"refusal": {Headline: []string{"p99.99: needs 36,887 samples, has 12,000 (measure 25 min more at this rate)"}},
		"empty":   {Tables: []Table{{Name: "steps", Columns: []Column{{"at", "s"}, {"size", "s"}}}}},
	} {
		for _, format := range []string{"text", "json", "csv", "md"} {
			if format == "csv" && len(d.Tables) != 1 {
				continue
			}
			t.Run(name+"."+format, func(t *testing.T) {
				var b bytes.Buffer
				if err := Write(&b, format, d, ""); err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", name+"."+format), b.Bytes())
			})
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func tune() *Document {
	return &Document{
		Version: "0.1.0", Command: "tune",
		Headline: []string{
			"api.trace: 1,200,000 calls to api-3:443 over 10 min, 23 slow episodes, listened 5 s",
			"",
			"  use  quantile:factor=2,q=99.9%      false positives 0.04 % [0.01, 0.09], from 23 episodes",
			"       a dead peer is noticed after 61 ms (p50), 418 ms (p99)",
		},
		Tables: []Table{{
			Name: "estimators",
			Columns: []Column{
				{"estimator", ""},
				{"false_positives", "ratio"},
				{"false_positives_lo", "ratio"},
				{"false_positives_hi", "ratio"},
				{"detection_p50", "s"},
				{"detection_p99", "s"},
				{"retries_added", "ratio"},
				{"collapses", ""},
				{"stale", "s"},
			},
			Rows: [][]any{
				{"quantile:factor=2,q=99.9%", .0004, .0001, .0009, .061, .418, .0004, false, nil},
				{"fixed:after=410ms", 0., 0., .0023, .410, .410, 0., false, nil},
				{"jacobson", .0005, .0002, .0011, .040, .449, .0005, true, nil},
				{"fixed:after=50ms", .0062, .0039, .0093, .05, .05, .0062, false, math.NaN()},
			},
		}},
		Warnings: []string{
			"23 episodes are few: the intervals rest on them, not on 1.2 million calls. 30 min more would halve them.",
			"replay says nothing of retries on a queue; for that: tickmark storm api.trace",
		},
	}
}

// sweep is too wide for a line: long names above their rows, grids one below the other.
func sweep() *Document {
	columns := []Column{
		{"estimator", ""},
		{"false_positives", "ratio"},
		{"false_positives_iid_lo", "ratio"},
		{"false_positives_iid_hi", "ratio"},
		{"false_positives_lo", "ratio"},
		{"false_positives_hi", "ratio"},
		{"detection_p50", "s"},
		{"detection_p99", "s"},
		{"undecided", "count"},
		{"retries_added", "ratio"},
		{"collapses", ""},
		{"stale", "ratio"},
		{"pareto", ""},
		{"chosen", ""},
		{"timeout_p50", "s"},
		{"timeout_p99", "s"},
	}
	long := "quantile:factor=2,initial=1s,max=1m,min=10ms,q=99.9%,window=1m"
	return &Document{Version: "0.1.0", Command: "tune", Tables: []Table{
		{
			Name: "estimators", Caption: "at the level 0.1%", Columns: columns,
			Rows: [][]any{
				{long, .0004, .00036, .00044, .0001, .0009, .061, .418, int64(0), .0004, false, .0031, true, true, .061, .418},
				{"fixed:after=50ms", .0062, .0061, .0063, .0039, .0093, .05, .05, int64(12345), .0062, false, nil, false, false, .05, .05},
			},
		},
		{
			Name: "levels", Columns: append([]Column{{"level", "ratio"}}, columns[1:]...),
			Rows: [][]any{
				{.0001, .0004, .00036, .00044, .0001, .0009, .061, .418, int64(0), .0004, false, .0031, true, true, .061, .418},
				{.01, .0062, .0061, .0063, .0039, .0093, .05, .05, int64(12345), .0062, false, nil, false, false, .05, .05},
			},
		},
	}}
}

// show is one row of many columns, which is turned; two of its quantiles are refused.
func show() *Document {
	return &Document{Version: "0.1.0", Command: "show", Tables: []Table{{
		Name: "summary",
		Columns: []Column{
			{"target", ""},
			{"samples", "count"},
			{"replied", "count"},
			{"late", "count"},
			{"timed_out", "count"},
			{"refused", "count"},
			{"invalid", "count"},
			{"lost_local", "count"},
			{"p50", "s"},
			{"p50_lo", "s"},
			{"p50_hi", "s"},
			{"p99", "s"},
			{"p99_lo", "s"},
			{"p99_hi", "s"},
			{"p999", "s"},
			{"p999_lo", "s"},
			{"p999_hi", "s"},
		},
		Rows: [][]any{{
			"127.0.0.1:7007", int64(1500), int64(1490), int64(7), int64(3), int64(0), int64(0), int64(0),
			51.23e-6, 51.21e-6, 51.26e-6, .00346, .0028, .0079, nil, nil, math.Inf(1),
		}},
	}}, Warnings: []string{"p999: needs 3,688 samples for a 95% interval, has 1,500"}}
}

func storm() *Document {
	return &Document{Version: "0.1.0", Command: "storm", Tables: []Table{{
		Name: "policies", Caption: "one freeze of 2 s, 100 calls/s",
		Columns: []Column{
			{"policy", ""},
			{"server", ""},
			{"attempts", "count"},
			{"amplification", "ratio"},
			{"duplicates", "count"},
			{"recovery", "s"},
			{"verdict", ""},
			{"note", ""},
		},
		Rows: [][]any{
			{"retry:backoff=none,n=1", "fifo:workers=20", 60_000, 1.98, int64(4_321), nil, "collapses", nil},
			{"budget:ratio=10%", "fifo:workers=20", 31_002, 1.03, int64(7), 0.0213, "safe", nil},
			{"none", "fifo:workers=20", 30_000, 1., int64(0), 0., "safe", nil},
		},
	}}}
}

func clocks() *Document {
	return &Document{Version: "0.1.0", Command: "clocks", Tables: []Table{
		{
			Name: "budget", Columns: []Column{{"term", ""}, {"kind", ""}, {"seconds", "s"}},
			Rows: [][]any{{"root dispersion", "bound", 12.3e-6}, {"half the round trip", "bound", 25.61e-6}, {"clock reading", "bound", 41e-9}},
		},
		{
			Name: "sources", Columns: []Column{{"source", ""}, {"lo", "s"}, {"hi", "s"}, {"truechimer", ""}},
			Rows: [][]any{{"192.0.2.1", -12e-6, 31e-6, true}, {"a|b", .0102, .0141, false}},
		},
		{
			Name: "stability", Caption: "phase of 192.0.2.1, tau0 1 s", Columns: []Column{{"tau", "s"}, {"n", "count"}, {"adev", ""}, {"adev_lo", ""}, {"adev_hi", ""}, {"tdev", "s"}},
			Rows: [][]any{
				{1., int64(998), 2.92e-9, 2.8e-9, 3.1e-9, 1.69e-9},
				{1024., int64(3), 1.07e-12, nil, nil, nil},
			},
		},
	}}
}

// prose is a table of sentences laid out as paragraphs: short and long rows of one
// group, a command that must stay whole, one that fits no line, and cells by somebody
// who means no good.
func prose() *Document {
	return &Document{Version: "0.1.0", Command: "doctor", Headline: []string{"This host can stamp packets in the kernel."}, Tables: []Table{{
		Name: "doctor", Prose: "state",
		Columns: []Column{{"subject", ""}, {"state", ""}, {"what", ""}, {"why", ""}, {"what_to_do", ""}},
		Rows: [][]any{
			{
				"time daemons", "problem", "chronyd (pid 812) and systemd-timesyncd (pid 644) both steer CLOCK_REALTIME",
				"each takes the other's corrections for errors of the clock and undoes them: offsets measured here swing between the two",
				"stop one, for good, so that it does not come back: `sudo systemctl disable --now systemd-timesyncd`; then measure again",
			},
			{"leap second", "problem", "one is announced", nil, "wait"},
			{"governor", "note", "powersave\x1b[2J\x00 <b>&\nlines", nil, nil},
			{"cpus", "note", "online 0-1, two or more to a core (SMT): a busy sibling slows a probe down, and a sentence that needs a second line stands alone too", nil, nil},
			{"rights", "note", "an odd ` mark", "none", "`" + strings.Repeat("a command longer than a line ", 4) + "`"},
			{"empty", "ok", nil, nil, nil},
			{"count", "ok", int64(3), nil, nil},
		},
	}}, Warnings: []string{"/dev/ptp0 could not be read by this user"}}
}

// doctor has sentences in its cells, one of them by somebody who means no good.
func doctor() *Document {
	return &Document{Version: "0.1.0", Command: "doctor", Tables: []Table{{
		Name: "checks", Columns: []Column{{"check", ""}, {"ok", ""}, {"found", ""}, {"cost", "s"}},
		Rows: [][]any{
			{"clock source", true, "tsc", nil},
			{"hardware stamps", false, "eth0 (igb) stamps every packet, but /dev/ptp0 cannot be opened: run as root, or give the group clock read access to it", 5e-6},
			{"governor", nil, "powersave\x1b[2J <b>&\nlines", 12e-6},
		},
	}}}
}
