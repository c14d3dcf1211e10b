package probes

import (
	"runtime/metrics"
	"slices"
	"time"
)

// An event of the runtime is taken for the cause of an overrun if it lasted for
// most of it (the runtime's buckets are up to a quarter wide), and if this process
// used the CPU for at least half of it: one that was stopped from outside did not.
const (
	mostOf = 0.75
	halfOf = 0.5
)

// suspects tells whether the Go runtime stopped or starved this process between
// two looks. A look takes about 1.2 µs and no memory.
type suspects struct {
	before, now       []metrics.Sample
	cpuBefore, cpuNow time.Duration
	knowsCPU          bool
}

func newSuspects() *suspects {
	s := &suspects{now: []metrics.Sample{
		{Name: "/sched/pauses/total/gc:seconds"},
		{Name: "/sched/pauses/total/other:seconds"},
		{Name: "/sched/latencies:seconds"},
	}}
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
// two looks: gc (the world was stopped), scheduler (it was stopped for something
// else, or other goroutines ran), or nothing that the runtime knows of.
func (s *suspects) cause(length time.Duration) string {
	if s.knowsCPU && float64(s.cpuNow-s.cpuBefore) < halfOf*float64(length) {
		return ""
	}
	least := mostOf * length.Seconds()
	switch {
	case s.happened(0, least):
		return "gc"
	case s.happened(1, least), s.happened(2, least):
		return "scheduler"
	}
	return ""
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
