package probes_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

func TestTimerMeasuresEachWay(t *testing.T) {
	tr := measure[datasets.Pause](t, "timer", "", probes.Plan{Count: 25, Interval: 2 * time.Millisecond})
	wakes := map[string]int64{}
	last := map[string]datasets.Instant{}
	for i, p := range tr.rows {
		wakes[p.Cause]++
		if p.Length < 0 || p.At <= last[p.Cause] {
			t.Errorf("row %d: %+v", i, p)
		}
		last[p.Cause] = p.At
	}
	want := []string{"sleep", "ticker", "spin"}
	if runtime.GOOS == "linux" {
		want = append(want, "nanosleep", "ppoll", "timerfd")
	}
	for _, name := range want {
		_, p50 := tr.Duration(name + "-p50")
		cpu, known := tr.Duration(name + "-cpu")
		t.Logf("%s: p50 %s, p99 %s, max %s, %s of a processor", name, tr.Text(name+"-p50"), tr.Text(name+"-p99"), tr.Text(name+"-max"), tr.Text(name+"-cpu"))
		if wakes[name] != 25 || !p50 || known && cpu < 0 || tr.Text("timer-"+name) == "" {
			t.Errorf("%s: %d wakes, p50 %q, cpu %q", name, wakes[name], tr.Text(name+"-p50"), tr.Text(name+"-cpu"))
		}
	}
	if len(wakes) != len(want) || tr.Text("timer-"+tr.Text("timer")) == "" {
		t.Errorf("ways %v, want %v; the house's is %q", wakes, want, tr.Text("timer"))
	}
}

func TestTimerByOneWay(t *testing.T) {
	tr := measure[datasets.Pause](t, "timer:by=spin", "", probes.Plan{Duration: 20 * time.Millisecond})
	for _, p := range tr.rows {
		if p.Cause != "spin" {
			t.Errorf("%+v", p)
		}
	}
	if observed, ok := tr.Duration("observed"); len(tr.rows) == 0 || !ok || observed < 20*time.Millisecond {
		t.Errorf("%d wakes in %s", len(tr.rows), tr.Text("observed"))
	}
}

func TestTimerStoppedByTheUser(t *testing.T) {
	tr := read[datasets.Pause](t, stoppedBy(t, 35, "timer", "", probes.Plan{}))
	if len(tr.rows) < 35 {
		t.Errorf("%d rows, want at least 35", len(tr.rows))
	}
}

func TestTimerOptions(t *testing.T) {
	_, _, err := probes.Probes().Parse("probe", "timer:by=sundial")
	if err == nil || !strings.HasPrefix(err.Error(), `timer: by "sundial": want all or, on this system, sleep, ticker, spin`) {
		t.Errorf("got %v", err)
	}
}
