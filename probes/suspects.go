package probes

import (
	"runtime/metrics"
	"slices"
	"time"
)

// What is blamed for an overrun must have taken most of it: three quarters, as the
// runtime's buckets are up to a quarter wide. And this process must have used a CPU
// for half of it, or it was stopped from outside and nothing in it is to blame.
const (
	mostOf = 0.75
	halfOf = 0.5
)

// suspects tells whether the Go runtime stopped or starved this process between
// two looks. A look takes 0.7 µs and no memory.
type suspects struct {
	before, now       []metrics.Sample // what stopped the world: gc, anything else
	runnable          []metrics.Sample // how many goroutines wait for a processor
	cpuBefore, cpuNow time.Duration
	knowsCPU          bool
}

func newSuspects() *suspects {
	s := &suspects{
		now:      []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}, {Name: "/sched/pauses/total/other:seconds"}},
		runnable: []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}},
	}
	s.before = slices.Clone(s.now)
	s.look()
	s.look()
	return s
}

// look ends one span of time and begins the next.
func (s *suspects) look() {
	s.before, s.now = s.now, s.before
	s.cpuBefore = s.cpuNow
	metrics.Read(s.now)
	s.cpuNow, s.knowsCPU = cpuTime()
}

// cause returns what in this process made it oversleep by length between the last
// two looks: gc (the world was stopped for it), scheduler (the world was stopped for
// something else, or other goroutines keep all processors busy), or nothing that can
// be known here.
func (s *suspects) cause(length time.Duration) string {
	if s.knowsCPU && float64(s.cpuNow-s.cpuBefore) < halfOf*float64(length) {
		return ""
	}
	most := mostOf * length.Seconds()
	switch {
	case s.happened(0, most):
		return "gc"
	case s.happened(1, most), s.knowsCPU && s.crowded():
		return "scheduler"
	}
	return ""
}

// crowded reports whether goroutines wait for a processor. The histogram of their
// waits would say how long, but has one in eight of them only.
func (s *suspects) crowded() bool {
	metrics.Read(s.runnable)
	return s.runnable[0].Value.Kind() == metrics.KindUint64 && s.runnable[0].Value.Uint64() > 0
}

// happened reports whether an event of least seconds or longer was added to the
// i-th histogram.
func (s *suspects) happened(i int, least float64) bool {
	if s.now[i].Value.Kind() != metrics.KindFloat64Histogram {
		return false
	}
	before, now := s.before[i].Value.Float64Histogram(), s.now[i].Value.Float64Histogram()
	for bucket, n := range now.Counts {
		if now.Buckets[bucket+1] >= least && n > before.Counts[bucket] {
			return true
		}
	}
	return false
}
