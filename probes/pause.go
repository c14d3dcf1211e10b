package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// pause measures how long something was not run. Time in which the whole machine is
// suspended does not count, as the monotonic clock stands still then.
type pause struct {
	name    string // of the probe, for its errors
	watcher watcher
	every   time.Duration
	least   time.Duration
}

// watcher sees the pauses of one thing.
type watcher interface {
	// open makes ready to watch as the schedule says and returns what the header has to
	// say of it.
	open(ctx context.Context, s schedule) ([]datasets.Field, error)
	// columns names the cells of its rows beside at, length and cause.
	columns() []string
	// watch sends each pause of which it sees the end, with instants since epoch, until
	// the schedule is fulfilled, ctx is done or what it watches is gone. It returns what
	// only the end can tell.
	watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error)
	// close gives back what open took.
	close()
}

// pauseOptions are those of all kinds; each takes some.
type pauseOptions struct {
	of     string
	least  time.Duration
	pid    int
	cgroup string
	log    string
	fifo   int
}

// pauseKind is something whose pauses can be watched.
type pauseKind struct {
	wants []string // options beside every and min that mean something
	bind  func(pauseOptions) (watcher, error)
}

func pauseKinds() map[string]pauseKind {
	return map[string]pauseKind{
		"self":    {nil, func(o pauseOptions) (watcher, error) { return &selfWatcher{least: o.least}, nil }},
		"host":    {[]string{"fifo"}, bindHostWatcher},
		"process": {[]string{"pid", "cgroup", "fifo"}, bindProcessWatcher},
		"jvm":     {[]string{"log"}, bindJVMWatcher},
		"vm":      {nil, bindStealWatcher},
	}
}

// usualPriority is that of the threads of interrupts (sched(7)): what holds up a
// thread of this priority holds up all ordinary ones.
const usualPriority = 50

func bindPause(fs *flag.FlagSet) func() (Probe, error) {
	o := pauseOptions{}
	fs.StringVar(&o.of, "of", "self", "what is watched: this process (`self`), host (each CPU), process, jvm (its GC log) or vm (steal)")
	every := fs.Duration("every", time.Millisecond, "the `length` of a sleep or the time between two looks, unless an interval is asked for")
	fs.DurationVar(&o.least, "min", time.Millisecond, "the shortest `pause` that is recorded")
	fs.IntVar(&o.pid, "pid", 0, "the `number` of the process, of=process")
	fs.StringVar(&o.cgroup, "cgroup", "", "a control group's `folder`, to watch all threads in it, of=process")
	fs.StringVar(&o.log, "log", "", "the JVM's GC log, a `file` that is followed as it grows, of=jvm")
	fs.IntVar(&o.fifo, "fifo", usualPriority, "real-time `priority` of the watching threads where allowed, 0 for none, of=host or process")
	return func() (Probe, error) {
		switch {
		case *every <= 0:
			return nil, errors.New("every must be positive")
		case o.least < 0:
			return nil, errors.New("min must not be negative")
		case o.fifo < 0 || o.fifo > 99:
			return nil, fmt.Errorf("fifo \"%d\": want 0 to 99", o.fifo)
		}
		kind, known := pauseKinds()[o.of]
		if !known {
			return nil, spec.Unknown("kind of pause", o.of, slices.Sorted(maps.Keys(pauseKinds())))
		}
		if err := o.refuse(kind.wants); err != nil {
			return nil, err
		}
		w, err := kind.bind(o)
		return pause{"pause", w, *every, o.least}, err
	}
}

// refuse names an option that was set and means nothing to this kind.
func (o pauseOptions) refuse(wants []string) error {
	for name, set := range map[string]bool{
		"pid": o.pid != 0, "cgroup": o.cgroup != "", "log": o.log != "", "fifo": o.fifo != usualPriority,
	} {
		if !set || slices.Contains(wants, name) {
			continue
		}
		var takers []string
		for kind, k := range pauseKinds() {
			if slices.Contains(k.wants, name) {
				takers = append(takers, "of="+kind)
			}
		}
		slices.Sort(takers)
		return fmt.Errorf("option %q says nothing about of=%s: it is for %s", name, o.of, strings.Join(takers, " and "))
	}
	return nil
}

// Kind returns Pauses.
func (pause) Kind() datasets.Kind { return datasets.Pauses }

// TakesTarget is false: this host is measured.
func (pause) TakesTarget() bool { return false }

// Run watches as often as the plan says, or for as long, each time for the plan's
// interval or else the probe's own. It needs no deadline.
func (p pause) Run(ctx context.Context, _ string, plan Plan, rec Recorder) error {
	s, err := newSchedule(plan, p.every)
	if err != nil {
		return err
	}
	facts, err := p.watcher.open(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	defer p.watcher.close()
	epoch := time.Now()
	h := newHeader(datasets.Pauses, "", "", epoch, plan)
	setPlan(h, s, deadlines{}, 0)
	h.SetDuration("threshold", p.least)
	setFacts(h, facts...)
	h.Extra = p.watcher.columns()
	if err := rec.Begin(h); err != nil {
		return err
	}
	return p.record(ctx, s, epoch, rec)
}

// mostPauses may wait to be recorded before watching has to wait for them.
const mostPauses = 1024

// record records the pauses that a goroutine of its own sees, so that a slow
// recorder is not taken for a pause.
func (p pause) record(ctx context.Context, s schedule, epoch time.Time, rec Recorder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan datasets.Pause, mostPauses)
	var trailer []datasets.Field
	var failed error
	go func() {
		defer close(seen)
		trailer, failed = p.watcher.watch(ctx, s, epoch, seen)
	}()
	var err error
	for row := range seen { // to the end, so that the goroutine has ended too
		if err != nil {
			continue
		}
		if err = rec.Record(&row); err != nil {
			stop()
		}
	}
	switch {
	case err != nil:
		return err
	case failed != nil:
		return fmt.Errorf("%s: %w", p.name, failed)
	}
	return rec.End(trailer...)
}

// over reports whether the schedule is fulfilled after so many looks and so long.
func over(s schedule, done int64, spent time.Duration) bool {
	return s.count > 0 && done >= s.count || s.duration > 0 && spent >= s.duration
}
