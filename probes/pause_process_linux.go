package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// processWatcher sees what kept another process, or the threads of a control group,
// from running. It looks at the kernel's own account of them many times a second:
//
//   - whether the process is stopped (SIGSTOP), traced, blocked in the kernel, or frozen
//     by its control group: from the first look at which it is so to the first at which
//     it is not;
//   - how long each thread that wanted to run has waited for a CPU (schedstat), which the
//     kernel adds up to the nanosecond and tells when the wait is over.
type processWatcher struct {
	least  time.Duration
	pid    int
	cgroup string
	fifo   int

	state     *kernelFile // of the process, nil if a control group is watched
	frozen    []*kernelFile
	threads   threads
	throttles throttles
	pressure  pressures

	held   holding
	looks  spread
	widths spread
}

func bindProcessWatcher(o pauseOptions) (watcher, error) {
	switch {
	case o.pid < 0:
		return nil, fmt.Errorf("pid \"%d\": must be positive", o.pid)
	case (o.pid == 0) == (o.cgroup == ""):
		return nil, errors.New("of=process: which? Give pid=NUMBER or cgroup=FOLDER")
	}
	return &processWatcher{least: o.least, pid: o.pid, cgroup: o.cgroup, fifo: o.fifo}, nil
}

func (*processWatcher) columns() []string { return []string{"thread", "error_ns"} }

func (w *processWatcher) open(context.Context, schedule) ([]datasets.Field, error) {
	facts := tryThread(w.fifo).facts()
	dirs, what := []string{w.cgroup}, "control group "+w.cgroup
	w.threads = threads{list: w.cgroup}
	if w.pid > 0 {
		process := strconv.Itoa(w.pid)
		what = "process " + process
		var err error
		if w.state, err = openKernelFile("/proc/" + process + "/stat"); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("pid \"%d\": there is no process of this number, or not for this user to see", w.pid)
		} else if err != nil {
			return nil, err
		}
		w.threads.list = "/proc/" + process + "/task"
		dirs = groupsOf(process)
	}
	w.openGroups(dirs)
	if err := w.threads.find(); err != nil {
		w.close()
		return nil, err
	}
	facts = append(facts, datasets.Field{Key: "watched", Value: what}, datasets.Field{Key: "timer", Value: "nanosleep"})
	return append(facts, count("threads", int64(len(w.threads.all)))), nil
}

// openGroups opens what the control groups tell; what is not there is not missed.
func (w *processWatcher) openGroups(dirs []string) {
	for _, dir := range dirs {
		w.throttles.open(dir)
		for _, file := range []string{"/freezer.state", "/cgroup.events"} {
			if f, err := openKernelFile(dir + file); err == nil {
				w.frozen = append(w.frozen, f)
			}
		}
	}
	w.pressure.open(dirs)
}

// groupsOf returns the folders of a process's own control groups and, for their quotas,
// of those above them.
func groupsOf(process string) []string {
	var dirs []string
	h := rootFiles()
	seen := map[string]bool{}
	for _, controller := range []string{"cpu", "freezer"} {
		for _, dir := range h.Dirs(process, controller) {
			if !seen[dir] {
				seen[dir] = true
				dirs = append(dirs, "/"+dir)
			}
		}
	}
	return dirs
}

func (w *processWatcher) close() {
	for _, f := range w.frozen {
		f.close()
	}
	if w.state != nil {
		w.state.close()
	}
	w.threads.close()
	w.throttles.close()
}

// often is how many looks pass between two searches for new threads.
const often = 100

// mostOfATime is the share of its time that looking may take, as one in so many; where
// it would take more, the looks are further apart.
const mostOfATime = 4

func (w *processWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error) {
	ownThread(w.fifo)
	timer := newKernelTimer()
	instant := func() datasets.Instant { return datasets.Instant(time.Since(epoch)) }
	start := instant()
	cause, alive := w.condition()
	w.held.look(cause, start, start)
	w.threads.look(nil)
	w.throttles.look()
	now, pass := start, time.Duration(0)
	for ctx.Err() == nil && alive && !over(s, w.looks.n, now.Sub(start)) {
		if !timer.until(ctx, epoch.Add(time.Duration(now)+max(s.interval, mostOfATime*pass))) {
			break
		}
		before := now
		now = instant()
		if cause, alive = w.condition(); alive {
			w.look(cause, before, now, seen)
		}
		pass = instant().Sub(now)
		w.looks.add(pass)
		w.widths.add(now.Sub(before))
	}
	return w.end(start, now, alive, seen), nil
}

// look takes what has ended between before and now.
func (w *processWatcher) look(cause string, before, now datasets.Instant, seen chan<- datasets.Pause) {
	if p, ok := w.held.look(cause, before, now); ok && p.Length >= w.least {
		seen <- p
	}
	window := now.Sub(before)
	w.throttles.asked = false
	w.threads.look(func(t *thread, waited time.Duration) {
		if waited < w.least || waited <= 0 {
			return
		}
		seen <- datasets.Pause{
			At: now.Add(-waited - window/2), Length: waited, Cause: w.throttles.cause(waited),
			Extra: t.name + "\t" + strconv.FormatInt(int64(window), 10),
		}
	})
	if w.looks.n%often == 0 {
		_ = w.threads.find() // the process may be about to end
		w.throttles.look()
	}
}

// condition says why the process as a whole cannot run now, and whether it still is there.
func (w *processWatcher) condition() (cause string, alive bool) {
	if w.isFrozen() {
		return "frozen", true
	}
	if w.state == nil {
		return "", true
	}
	stat, err := w.state.read()
	if err != nil {
		return "", false
	}
	state, ok := parseState(stat)
	return holds(state), ok && state != 'Z' && state != 'X'
}

// parseState reads the state from /proc/PID/stat: PID (NAME) STATE … (proc(5)), where a
// name may hold anything.
func parseState(stat []byte) (state byte, ok bool) {
	at := bytes.LastIndexByte(stat, ')') + 2
	if at < 2 || at >= len(stat) {
		return 0, false
	}
	return stat[at], true
}

// isFrozen reports whether a control group has the process frozen.
func (w *processWatcher) isFrozen() bool {
	for _, f := range w.frozen {
		if text, err := f.read(); err == nil && (bytes.HasPrefix(text, []byte("FROZEN")) || bytes.Contains(text, []byte("frozen 1"))) {
			return true
		}
	}
	return false
}

// holds says what keeps a process in a state of proc(5) from running, or "".
func holds(state byte) string {
	switch state {
	case 'T':
		return "stopped"
	case 't':
		return "traced"
	case 'D':
		return "blocked"
	}
	return ""
}

// end takes what has not ended, with its length so far, and sums up.
func (w *processWatcher) end(start, now datasets.Instant, alive bool, seen chan<- datasets.Pause) []datasets.Field {
	trailer := append(w.looks.fields("look"), w.widths.fields("between-looks")...)
	trailer = append(trailer, count("looks", w.looks.n), count("threads-unwatched", int64(w.threads.unwatched)))
	if cause := w.held.cause; cause != "" {
		if p, ok := w.held.look("", now, now); ok && p.Length >= w.least {
			seen <- p
		}
		trailer = append(trailer, datasets.Field{Key: "ongoing", Value: cause})
	}
	if !alive {
		trailer = append(trailer, datasets.Field{Key: "ended", Value: fmt.Sprintf("process %d ended", w.pid)})
	}
	if span := now.Sub(start); span > 0 {
		trailer = append(trailer, duration(datasets.KeyObserved, span))
	}
	return append(trailer, w.pressure.fields()...)
}

// holding is what holds the whole process up, from look to look.
type holding struct {
	cause string
	since datasets.Instant
	width time.Duration // of the two looks between which it began
}

// look returns the pause that ended between before and now. Both its ends are taken to
// lie halfway between two looks, which its error_ns covers.
func (h *holding) look(cause string, before, now datasets.Instant) (datasets.Pause, bool) {
	if cause == h.cause {
		return datasets.Pause{}, false
	}
	width := now.Sub(before)
	middle := before.Add(width / 2)
	p := datasets.Pause{
		At: h.since, Length: middle.Sub(h.since), Cause: h.cause,
		Extra: "-\t" + strconv.FormatInt(int64((h.width+width)/2), 10),
	}
	*h = holding{cause, middle, width}
	return p, p.Cause != ""
}
