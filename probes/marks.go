package probes

import (
	"sync/atomic"
	"time"
)

// marks are what a library tells of a call from goroutines of its own, in nanoseconds
// since it began; 0 for what did not happen.
type marks struct {
	began        time.Time
	wrote, first atomic.Int64 // the last byte of the request, the first of the answer
}

// mark notes that something happens now, if it has not before.
func (m *marks) mark(at *atomic.Int64) {
	at.CompareAndSwap(0, max(1, int64(time.Since(m.began))))
}

// answering reports whether an answer has begun.
func (m *marks) answering() bool { return m.first.Load() != 0 }

// end ends the stages that the marks are between. An answer may begin before all of its
// request is written, or before that is told.
func (m *marks) end(s *stages) {
	wrote, first := m.wrote.Load(), m.first.Load()
	if first != 0 && (wrote == 0 || wrote > first) {
		wrote = first
	}
	if wrote != 0 {
		s.end(stageRequest, m.began.Add(time.Duration(wrote)))
	}
	if first != 0 {
		s.end(stageWait, m.began.Add(time.Duration(first)))
	}
}
