package probes_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

func TestPauseRecordsOverruns(t *testing.T) {
	// Every wake is at least 0 late, so each is a row.
	tr := measure[datasets.Pause](t, "pause:every=1ms,min=0s", "", probes.Plan{Count: 20})
	if len(tr.rows) != 20 || tr.number(t, "wakes") != 20 {
		t.Fatalf("%d rows of %s wakes, want 20", len(tr.rows), tr.Text("wakes"))
	}
	woke, whole := datasets.Instant(0), time.Duration(0)
	for i, p := range tr.rows {
		if p.Length < 0 || p.At < woke.Add(time.Millisecond) {
			t.Errorf("row %d: from %d for %v, but the sleep before it ended at %d", i, p.At, p.Length, woke)
		}
		woke = p.At.Add(p.Length)
		whole += time.Millisecond + p.Length
	}
	if observed, ok := tr.Duration("observed"); !ok || observed != whole {
		t.Errorf("observed %v, the sleeps and their overruns are %v", observed, whole)
	}
	for _, key := range []string{"floor", "threshold", "overrun-p50", "overrun-p99", "overrun-max"} {
		if _, ok := tr.Duration(key); !ok {
			t.Errorf("%s: %q is no duration", key, tr.Text(key))
		}
	}
	if got, want := tr.Text("schedule"), "constant:interval=1ms,count=20"; got != want {
		t.Errorf("schedule %q, want %q", got, want)
	}
}

func TestPauseWatchesForAsLongAsAsked(t *testing.T) {
	const asked = 30 * time.Millisecond
	tr := measure[datasets.Pause](t, "pause:min=1h", "", probes.Plan{Duration: asked, Interval: 2 * time.Millisecond})
	if observed, _ := tr.Duration("observed"); observed < asked || len(tr.rows) > 0 {
		t.Errorf("observed %v with %d pauses over an hour, want %v and none", observed, len(tr.rows), asked)
	}
	if n := tr.number(t, "wakes"); n < 1 || n > 15 {
		t.Errorf("%d sleeps of 2ms in 30ms", n)
	}
}

func TestPauseStoppedByTheUser(t *testing.T) {
	for _, spec := range []string{"pause:min=0s", "pause:every=1ns,min=0s"} { // the second is always late
		t.Run(spec, func(t *testing.T) { stopAPause(t, spec) })
	}
}

func stopAPause(t *testing.T, spec string) {
	t.Helper()
	tr := read[datasets.Pause](t, stoppedBy(t, 3, spec, "", probes.Plan{}))
	// A few more may have been seen before the third was recorded; none is dropped.
	if n := tr.number(t, "wakes"); int(n) != len(tr.rows) || n < 3 {
		t.Errorf("%d rows of %d wakes, want all and at least 3", len(tr.rows), n)
	}
}

// scan reads memory in one step of many milliseconds, which the runtime cannot
// interrupt: bytes.IndexByte is assembly.
func scan(ctx context.Context, memory []byte) {
	for ctx.Err() == nil {
		bytes.IndexByte(memory, 1)
	}
}

// pausedFor runs the pause probe until it blames cause, while others work.
func pausedFor(t *testing.T, cause string, others ...func(ctx context.Context)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	found := errors.New("found")
	var pauses int64
	rec := &recorder{onPause: func(p *datasets.Pause) error {
		if pauses++; p.Cause == cause {
			t.Logf("%v blamed on %s", p.Length, cause)
			return found
		}
		return nil
	}}
	var busy sync.WaitGroup
	for _, work := range others {
		busy.Go(func() { work(ctx) })
	}
	err := parse(t, "pause:min=2ms").Run(ctx, "", probes.Plan{}, rec)
	cancel()
	busy.Wait()
	if !errors.Is(err, found) {
		t.Errorf("none of %d pauses was blamed on %s: %v", pauses, cause, err)
	}
}

type recorder struct {
	onPause func(*datasets.Pause) error
}

func (*recorder) Begin(*datasets.Header) error    { return nil }
func (r *recorder) Record(row datasets.Row) error { return r.onPause(row.(*datasets.Pause)) }
func (*recorder) End(...datasets.Field) error     { return nil }

// The collector stops the world, which takes until the scan has come to its end.
func TestPauseBlamesTheCollector(t *testing.T) {
	memory := make([]byte, 128<<20)
	pausedFor(t, "gc",
		func(ctx context.Context) { scan(ctx, memory) },
		func(ctx context.Context) {
			for ctx.Err() == nil {
				runtime.GC()
			}
		},
	)
}

// As many scans as there are threads leave none for the probe.
func TestPauseBlamesTheScheduler(t *testing.T) {
	memory := make([]byte, 128<<20)
	var hogs []func(context.Context)
	for range 2 * runtime.GOMAXPROCS(0) {
		hogs = append(hogs, func(ctx context.Context) { scan(ctx, memory) })
	}
	pausedFor(t, "scheduler", hogs...)
}
