package probes

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A reading is of its middle: half its width lies before it and half behind.
func TestReadingIsOfItsMiddle(t *testing.T) {
	r, err := newClockReader()
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		before := r.get(unix.CLOCK_MONOTONIC)
		c := r.once()
		after := r.get(unix.CLOCK_MONOTONIC)
		if c.Monotonic-c.Width/2 < before || c.Monotonic+c.Width/2 > after {
			t.Fatalf("read at %v ± %v, between %v and %v", c.Monotonic, c.Width/2, before, after)
		}
	}
}

// A reading that was interrupted is made again, and the narrowest is kept.
func TestWideReadingsAreMadeAgain(t *testing.T) {
	r, err := newClockReader()
	if err != nil {
		t.Fatal(err)
	}
	r.narrowest = 1 // no reading is as narrow as 3 ns: five system calls lie in it
	if c := r.read(); c.Width <= 0 || r.again != retries {
		t.Errorf("width %v after %d further readings, want %d", c.Width, r.again, retries)
	}
	r.narrowest, r.again = time.Hour, 0
	if c := r.read(); r.again != 0 || r.narrowest != c.Width {
		t.Errorf("%d further readings although the first was narrow; narrowest %v of %v", r.again, r.narrowest, c.Width)
	}
}

func BenchmarkReadClocks(b *testing.B) {
	r, err := newClockReader()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.once()
	}
}
