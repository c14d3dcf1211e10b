package probes

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

func TestHeaderKeepsWhatTheCallerKnows(t *testing.T) {
	epoch := time.Date(2026, 9, 1, 12, 0, 0, 5, time.FixedZone("", 3600))
	plan := Plan{Facts: []datasets.Field{{Key: "probe", Value: "udp:size=96"}, {Key: "host", Value: "db-3"}}}
	h := newHeader(datasets.RTT, "db:7", "[::1]:7", epoch, plan)
	for key, want := range map[string]string{
		"kind": "rtt", "probe": "udp:size=96", "host": "db-3", "target": "db:7", "address": "[::1]:7",
		"epoch": "2026-09-01T11:00:00.000000005Z", "tool": "tickmark",
	} {
		if got := h.Text(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if got, ok := h.Epoch(); !ok || !got.Equal(epoch) {
		t.Errorf("epoch reads back as %v", got)
	}
	if _, ok := newHeader(datasets.Pauses, "", "", epoch, Plan{}).Value("target"); ok {
		t.Error("a probe without a target has one in its header")
	}
}

func TestHostIsNotNamed(t *testing.T) {
	name, err := os.Hostname()
	if err != nil {
		t.Skip("this host has no name")
	}
	hash := ""
	for _, f := range hostFacts() {
		if f.Value == "" {
			t.Errorf("%s is there without a value", f.Key)
		}
		if f.Key == "host" {
			hash = f.Value
		}
	}
	if len(hash) != 8 || strings.Contains(hash, name) {
		t.Errorf("host is %q, want 8 hex digits", hash)
	}
}

func TestFactsThatAreNotThere(t *testing.T) {
	dir := t.TempDir()
	if got := firstLine(dir + "/none"); got != "" {
		t.Errorf("a file that is not there says %q", got)
	}
	if got := governors(dir + "/cpu*/governor"); got != "" {
		t.Errorf("cpus that are not there are governed by %q", got)
	}
	for cpu, governor := range map[string]string{"cpu0": "performance\n", "cpu1": "powersave\n", "cpu2": "performance\n"} {
		if err := os.Mkdir(dir+"/"+cpu, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+cpu+"/governor", []byte(governor), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := governors(dir+"/cpu*/governor"), "performance,powersave"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestListenFor(t *testing.T) {
	const usual = 2 * time.Second
	some := datasets.Some[time.Duration]
	for name, tt := range map[string]struct {
		plan Plan
		want time.Duration // 0: refused
	}{
		"left to the probe":         {Plan{}, usual},
		"a short deadline":          {Plan{Deadline: some(50 * time.Millisecond)}, usual},
		"a deadline past the usual": {Plan{Deadline: some(5 * time.Second)}, 5 * time.Second},
		"asked":                     {Plan{Listen: some(time.Millisecond)}, time.Millisecond},
		"as long as the deadline":   {Plan{Deadline: some(time.Second), Listen: some(time.Second)}, time.Second},
		"shorter than the deadline": {Plan{Deadline: some(time.Second), Listen: some(time.Second - 1)}, 0},
		"no listening":              {Plan{Listen: some(0)}, 0},
		"a deadline of zero":        {Plan{Deadline: some(0)}, 0},
	} {
		got, err := listenFor(tt.plan, usual)
		if wrong := new(spec.UsageError); got != tt.want || (tt.want == 0) != errors.As(err, &wrong) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, tt.want)
		}
	}
}
