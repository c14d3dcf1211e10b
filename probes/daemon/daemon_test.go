package daemon

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// reading is an empty one, dated by the wall clock.
func reading() *Reading {
	began := time.Now()
	return NewReading(func() (datasets.Instant, datasets.Stamp) {
		now := time.Now()
		return datasets.Instant(now.Sub(began)), datasets.StampTime(now, datasets.Local, datasets.User)
	})
}

// patience is how long a daemon that answers may take on a loaded machine.
const patience = 10 * time.Second

// ask asks once, and holds every claim to what a trace can hold.
func ask(tb testing.TB, d Daemon) (*Reading, error) {
	tb.Helper()
	return askWithin(tb, d, patience)
}

func askWithin(tb testing.TB, d Daemon, wait time.Duration) (*Reading, error) {
	tb.Helper()
	ctx, stop := context.WithTimeout(tb.Context(), wait)
	defer stop()
	r := reading()
	err := d.Ask(ctx, r)
	for _, c := range r.Claims {
		checkClaim(tb, c)
	}
	return r, err
}

// checkClaim writes a claim into a trace and reads it back.
func checkClaim(tb testing.TB, c *datasets.Claim) {
	tb.Helper()
	want := *c
	if want.Source == "" {
		want.Source = "fuzz"
	}
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(datasets.Claims))
	var b bytes.Buffer
	w, err := datasets.NewWriter(&b, h)
	if err != nil {
		tb.Fatal(err)
	}
	if err := w.Write(&want); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	s, err := datasets.Open("claim", &b, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var got datasets.Claim
	if !s.Next(&got) {
		tb.Fatalf("a claim that cannot be read back: %v\n%+v", s.Err(), want)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(datasets.Stamp{}, datasets.Optional[time.Duration]{},
		datasets.Optional[int]{}, datasets.Optional[datasets.PPB]{})); diff != "" {
		tb.Fatal(diff)
	}
}

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx, cancel
}

// openFiles counts the descriptors of this process, where that can be seen.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}
