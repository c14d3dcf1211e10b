package probes

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/probes/cgroup"
)

// threads are those that are watched, each by its schedstat.
type threads struct {
	list      string // the folder /proc/PID/task, or that of a control group
	all       []*thread
	unwatched int
	round     int
}

type thread struct {
	name   string // its number
	file   *kernelFile
	waited time.Duration // for a CPU, since it was made
	round  int           // of the last search that found it
}

// mostThreads is how many are watched of a process that has more.
const mostThreads = 256

// find begins to watch the threads that are new and drops those that have ended. A wait
// is seen of a thread that was there when it began.
func (t *threads) find() error {
	names, err := t.names()
	if err != nil {
		return err
	}
	known := make(map[string]*thread, len(t.all))
	for _, x := range t.all {
		known[x.name] = x
	}
	t.round++
	t.unwatched = 0
	for _, name := range names {
		x := known[name]
		if x == nil && len(t.all) < mostThreads {
			if f, err := openKernelFile("/proc/" + name + "/schedstat"); err == nil {
				x = &thread{name: name, file: f}
				x.waited, _ = x.look()
				t.all = append(t.all, x)
			}
		}
		if x == nil {
			t.unwatched++
			continue
		}
		x.round = t.round
	}
	t.drop(func(x *thread) bool { return x.round != t.round })
	return nil
}

// names returns the numbers of all threads.
func (t *threads) names() ([]string, error) {
	if strings.HasPrefix(t.list, "/proc/") {
		entries, err := os.ReadDir(t.list)
		if err != nil {
			return nil, err
		}
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name()
		}
		return names, nil
	}
	for _, file := range []string{"/cgroup.threads", "/tasks"} { // version 2, version 1
		if text, err := os.ReadFile(t.list + file); err == nil {
			return strings.Fields(string(text)), nil
		}
	}
	return nil, fmt.Errorf("cgroup %q: no folder of a control group: want one below /sys/fs/cgroup", t.list)
}

func (t *threads) drop(gone func(*thread) bool) {
	kept := t.all[:0]
	for _, x := range t.all {
		if gone(x) {
			x.file.close()
			continue
		}
		kept = append(kept, x)
	}
	t.all = kept
}

// look tells of each thread how long it has waited since the last look.
func (t *threads) look(tell func(t *thread, waited time.Duration)) {
	for _, x := range t.all {
		waited, ok := x.look()
		if !ok {
			continue
		}
		if more := waited - x.waited; tell != nil && more > 0 {
			tell(x, more)
		}
		x.waited = waited
	}
}

// look returns how long the thread has waited for a CPU since it was made.
func (t *thread) look() (waited time.Duration, ok bool) {
	text, err := t.file.read()
	if err != nil {
		return 0, false
	}
	return parseWaited(text)
}

// parseWaited reads the second number of schedstat, in ns, which the kernel raises when a
// wait is over.
func parseWaited(text []byte) (waited time.Duration, ok bool) {
	_, rest, _ := bytes.Cut(text, []byte{' '})
	number, _, found := bytes.Cut(rest, []byte{' '})
	ns, err := strconv.ParseInt(string(number), 10, 64)
	return time.Duration(ns), found && err == nil && ns >= 0
}

func (t *threads) close() { t.drop(func(*thread) bool { return true }) }

// throttles are the control groups whose quota may stop the process.
type throttles struct {
	groups []*throttle
	grown  time.Duration // in this pass, if it was asked
	asked  bool
}

type throttle struct {
	file    *kernelFile
	stopped time.Duration
}

func (t *throttles) open(dir string) {
	if f, err := openKernelFile(dir + "/cpu.stat"); err == nil {
		t.groups = append(t.groups, &throttle{file: f})
	}
}

// look reads how long each was stopped, which is a costly question in version 2 and so
// asked when there was a wait, and now and then.
func (t *throttles) look() (most time.Duration) {
	for _, g := range t.groups {
		text, err := g.file.read()
		if err != nil {
			continue
		}
		stopped := cgroup.ParseThrottling(text).Stopped
		most = max(most, stopped-g.stopped)
		g.stopped = stopped
	}
	return most
}

// cause says what a thread waited for: its quota, if a group was stopped for most of
// that time, or else its turn.
func (t *throttles) cause(waited time.Duration) string {
	if !t.asked {
		t.grown, t.asked = t.look(), true
	}
	if t.grown.Seconds() >= mostOf*waited.Seconds() {
		return "throttled"
	}
	return "runqueue"
}

func (t *throttles) close() {
	for _, g := range t.groups {
		g.file.close()
	}
}
