package probes

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestNothingIsToBlame(t *testing.T) {
	s := newSuspects()
	s.look()
	// Nothing in this process can have lasted for most of an hour, nor used the CPU.
	if got := s.cause(time.Hour); got != "" {
		t.Errorf("an hour is blamed on %s", got)
	}
	s.knowsCPU = false
	if got := s.cause(time.Hour); got != "" {
		t.Errorf("without the CPU time an hour is blamed on %s", got)
	}
}

// A collection stops the world, if only for microseconds.
func TestBlameIsForTheLastSpan(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s := newSuspects()
	cause := func(length time.Duration) string {
		s.look()
		s.knowsCPU = false // a nanosecond is no measure of the CPU's time
		return s.cause(length)
	}
	cause(0)
	runtime.GC()
	if got := cause(1); got != "gc" {
		t.Errorf("a collection is blamed on %q", got)
	}
	if got := cause(1); got != "" {
		t.Errorf("a collection before the span is blamed in it, on %q", got)
	}
	runtime.GC()
	if got := cause(time.Hour); got != "" {
		t.Errorf("an hour is blamed on a collection of microseconds, %q", got)
	}
}

func BenchmarkLook(b *testing.B) {
	s := newSuspects()
	b.ReportAllocs()
	for b.Loop() {
		s.look()
	}
}
