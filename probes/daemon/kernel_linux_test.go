package daemon

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// The kernel of this host is read, and what was read is what adjtimex, the other system
// call, has. The limit grows between two readings.
func TestKernelOfThisHost(t *testing.T) {
	r := reading()
	if err := (kernel{}).Ask(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	var second unix.Timex
	if _, err := unix.Adjtimex(&second); err != nil {
		t.Fatal(err)
	}
	c := r.Claims[0]
	for key, want := range map[string]int64{
		"freq": int64(second.Freq), "tick_us": int64(second.Tick), "tai": int64(second.Tai),
		"tolerance": int64(second.Tolerance), "precision_us": int64(second.Precision), "constant": int64(second.Constant),
	} {
		if got, _ := c.Fact(key); got != integer(want) {
			t.Errorf("%s %s, adjtimex has %d", key, got, want)
		}
	}
	bound, ok := c.Bound.Value()
	if ok && (bound.Microseconds() > int64(second.Maxerror) || c.Why != "") {
		t.Errorf("bound %v with why %q, adjtimex has %d µs", bound, c.Why, second.Maxerror)
	}
	if !ok && second.Maxerror < 15_999_000 {
		t.Errorf("no bound, adjtimex has %d µs", second.Maxerror)
	}
	if wantUnsync := second.Status&unix.STA_UNSYNC != 0; wantUnsync != (c.Status == datasets.Unsynchronised) {
		t.Errorf("status %q, adjtimex has %#x", c.Status, second.Status)
	}
}

// TestConstantsAreTheKernels: they are spelt out for systems that lack them.
func TestConstantsAreTheKernels(t *testing.T) {
	for name, pair := range map[string][2]int{
		"STA_PLL": {staPLL, unix.STA_PLL}, "STA_INS": {staIns, unix.STA_INS}, "STA_DEL": {staDel, unix.STA_DEL},
		"STA_UNSYNC": {staUnsync, unix.STA_UNSYNC}, "STA_NANO": {staNano, unix.STA_NANO}, "TIME_ERROR": {timeError, unix.TIME_ERROR},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %#x, x/sys has %#x", name, pair[0], pair[1])
		}
	}
}
