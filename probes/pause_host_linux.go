package probes

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// hostWatcher sees how long each CPU ran nothing of ours: a thread kept on each sleeps,
// over and over, and takes by how much it overslept. By SCHED_FIFO no ordinary program
// delays it, so what does delays everybody: the kernel, an interrupt, a hypervisor, a
// real-time program of a higher priority. It always sleeps between two looks: a thread
// that spins would be stopped by the kernel's own limit for real-time programs, 50 ms in
// each second as sched_rt_runtime_us usually is, and see that as a pause of the host.
type hostWatcher struct {
	least time.Duration
	fifo  int
	cpus  []int
}

func bindHostWatcher(o pauseOptions) (watcher, error) {
	return &hostWatcher{least: o.least, fifo: o.fifo}, nil
}

func (*hostWatcher) columns() []string { return []string{"cpu"} }
func (*hostWatcher) close()            {}

func (w *hostWatcher) open(context.Context, schedule) ([]datasets.Field, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("of=host: sched_getaffinity: %w", err)
	}
	w.cpus = nil
	for cpu := 0; len(w.cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			w.cpus = append(w.cpus, cpu)
		}
	}
	facts := append(tryThread(w.fifo).facts(), datasets.Field{Key: "watched", Value: "each CPU"}, datasets.Field{Key: "timer", Value: "nanosleep"})
	return append(facts, count("watched-cpus", int64(len(w.cpus)))), nil
}

// watch runs a thread per CPU. The runtime gets a processor more for each, so that none
// has to wait for one when it wakes.
func (w *hostWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error) {
	defer moreProcessors(len(w.cpus))()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watchers := make([]cpuWatcher, len(w.cpus))
	var running sync.WaitGroup
	for i, cpu := range w.cpus {
		watchers[i] = cpuWatcher{cpu: cpu, name: strconv.Itoa(cpu), least: w.least, fifo: w.fifo}
		running.Go(func() {
			if watchers[i].watch(ctx, s, epoch, seen); watchers[i].failed != nil {
				stop()
			}
		})
	}
	running.Wait()
	return sumOf(watchers)
}

func sumOf(watchers []cpuWatcher) ([]datasets.Field, error) {
	var all spread
	shortest := time.Duration(1<<63 - 1)
	for i := range watchers {
		if err := watchers[i].failed; err != nil {
			return nil, err
		}
		all.join(&watchers[i].overruns)
		shortest = min(shortest, watchers[i].span)
	}
	trailer := append(all.fields("overrun"), count("wakes", all.n))
	if len(watchers) > 0 && shortest > 0 {
		trailer = append(trailer, duration(datasets.KeyObserved, shortest))
	}
	return trailer, nil
}

// cpuWatcher is the thread of one CPU.
type cpuWatcher struct {
	cpu      int
	name     string
	least    time.Duration
	fifo     int
	overruns spread
	span     time.Duration
	failed   error
}

// watch sleeps and wakes. Each sleep counts from the wake before it.
func (w *cpuWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) {
	ownThread(w.fifo)
	if w.failed = pin(w.cpu); w.failed != nil {
		return
	}
	own := thread{}
	if own.file, w.failed = openKernelFile("/proc/thread-self/schedstat"); w.failed == nil {
		defer own.file.close()
	}
	knows := w.failed == nil // without schedstat in the kernel no cause is told
	w.failed = nil
	timer := newKernelTimer()
	start := time.Now()
	now, waited := start, time.Duration(0)
	for ctx.Err() == nil && !over(s, w.overruns.n, now.Sub(start)) {
		if knows {
			waited, _ = own.look()
		}
		// The time this took is watched too: what counts is the last wake.
		due := now.Add(s.interval)
		if !timer.until(ctx, due) {
			break
		}
		now = time.Now()
		length := now.Sub(due)
		w.overruns.add(length)
		if length < w.least {
			continue
		}
		p := datasets.Pause{At: datasets.Instant(due.Sub(epoch)), Length: length, Extra: w.name}
		if after, ok := waited, knows; ok {
			after, _ = own.look()
			p.Cause = waitedFor(after-waited, length)
		}
		seen <- p
	}
	w.span = now.Sub(start)
}

// waitedFor says whether a thread that woke late had woken in time and then waited for
// its CPU, on which something else ran.
func waitedFor(waited, length time.Duration) string {
	if waited.Seconds() >= mostOf*length.Seconds() {
		return "runqueue"
	}
	return ""
}
