package probes

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// runtimeTimes says for how long the Go runtime stopped the world of this process and
// let its goroutines wait, over a span of time. The runtime's buckets are up to a
// quarter wide, and of the waits it counts one in eight.
type runtimeTimes struct{ before, now []metrics.Sample }

func newRuntimeTimes() *runtimeTimes {
	r := &runtimeTimes{before: runtimeSamples(), now: runtimeSamples()}
	metrics.Read(r.before)
	return r
}

func runtimeSamples() []metrics.Sample {
	return []metrics.Sample{
		{Name: "/sched/pauses/total/gc:seconds"},
		{Name: "/sched/pauses/total/other:seconds"},
		{Name: "/sched/latencies:seconds"},
	}
}

// fields give the number and the longest of each, as an upper limit, since newRuntimeTimes.
func (r *runtimeTimes) fields() []datasets.Field {
	metrics.Read(r.now)
	var fields []datasets.Field
	for i, name := range []string{"runtime-gc", "runtime-stop", "runtime-wait"} {
		if r.now[i].Value.Kind() != metrics.KindFloat64Histogram {
			continue
		}
		n, longest := added(r.before[i].Value.Float64Histogram(), r.now[i].Value.Float64Histogram())
		fields = append(fields, count(name+"-count", n))
		if n > 0 && !math.IsInf(longest, 0) {
			fields = append(fields, duration(name+"-max", time.Duration(longest*float64(time.Second))))
		}
	}
	return fields
}

// added returns how many events came to a histogram and the upper limit of the longest,
// in seconds.
func added(before, now *metrics.Float64Histogram) (n int64, longest float64) {
	for bucket, c := range now.Counts {
		if d := c - before.Counts[bucket]; d > 0 {
			n += int64(d)
			longest = now.Buckets[bucket+1]
		}
	}
	return n, longest
}
