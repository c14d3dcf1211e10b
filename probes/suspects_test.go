package probes

import (
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

func BenchmarkLook(b *testing.B) {
	s := newSuspects()
	b.ReportAllocs()
	for b.Loop() {
		s.look()
	}
}
