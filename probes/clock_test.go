package probes_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

func TestClockReadsFourClocksTogether(t *testing.T) {
	rec := &recording{}
	err := parse(t, "clock").Run(t.Context(), "", probes.Plan{Interval: time.Millisecond, Count: 30}, rec)
	if runtime.GOOS != "linux" {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v, want %v", err, errors.ErrUnsupported)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	tr := read[datasets.ClockReading](t, rec)
	if n := tr.number(t, "readings"); int(n) != len(tr.rows) || n+tr.number(t, "skipped") != 30 || n == 0 {
		t.Fatalf("%d rows, %d readings, %s skipped; want 30 in all", len(tr.rows), n, tr.Text("skipped"))
	}
	first := tr.rows[0]
	for i, c := range tr.rows {
		// The trace's own clock is CLOCK_MONOTONIC, moved to the epoch.
		if got, want := c.At.Sub(first.At), c.Monotonic-first.Monotonic; got != want {
			t.Errorf("reading %d: %v after the first, by the monotonic clock %v", i, got, want)
		}
		if i > 0 && (c.At <= tr.rows[i-1].At || c.Raw <= tr.rows[i-1].Raw) {
			t.Errorf("reading %d is not after the one before it", i)
		}
		// BOOTTIME and MONOTONIC differ by the time suspended, which does not pass
		// while this runs; each is read somewhere inside the width.
		if d := (c.Boottime - c.Monotonic) - (first.Boottime - first.Monotonic); d.Abs() > c.Width+first.Width {
			t.Errorf("reading %d: suspended for %v, widths %v and %v", i, d, c.Width, first.Width)
		}
		if _, ok := c.Realtime.UnixNanos(); !ok || c.Width <= 0 {
			t.Errorf("reading %d: %+v", i, c)
		}
	}
	for _, key := range []string{"precision", "smallest-step", "reading-cost", "resolution-raw", "width-p50"} {
		if d, ok := tr.Duration(key); !ok || d <= 0 {
			t.Errorf("%s: %q is no positive duration", key, tr.Text(key))
		}
	}
}

// The wall clock at the epoch, as the header has it, is the one the rows have.
func TestClockEpochIsOfItsRows(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the clocks of Linux")
	}
	tr := measure[datasets.ClockReading](t, "clock", "", probes.Plan{Count: 1})
	epoch, ok := tr.Epoch()
	ns, _ := tr.rows[0].Realtime.UnixNanos()
	// They are milliseconds apart. Unless the wall clock is stepped in this moment,
	// slewing moves it by at most 500 ppm (adjtimex(2)), so 1 ms is plenty.
	if d := time.Unix(0, ns).Sub(epoch) - time.Duration(tr.rows[0].At); !ok || d.Abs() > time.Millisecond {
		t.Errorf("the row is %v by the wall clock after the epoch, %v by its own", time.Unix(0, ns).Sub(epoch), time.Duration(tr.rows[0].At))
	}
}

func TestClockStoppedByTheUser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs the clocks of Linux")
	}
	tr := read[datasets.ClockReading](t, stoppedBy(t, 2, "clock", "", probes.Plan{Interval: time.Millisecond}))
	if len(tr.rows) != 2 {
		t.Errorf("%d rows, want the 2 before the stop", len(tr.rows))
	}
}
