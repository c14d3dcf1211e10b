package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// stealWatcher sees how long the hypervisor ran others while this virtual machine wanted
// to run (steal), CPU by CPU, from /proc/stat. The kernel counts it in hundredths of a
// second, and a hypervisor that does not tell has none; what stops all CPUs at once and is
// not told shows in of=host.
type stealWatcher struct {
	least time.Duration
	file  *os.File
	buf   []byte
	cpus  []stolenCPU
}

type stolenCPU struct {
	name  string
	stole time.Duration // since it booted
}

// farAway is more than a CPU can have lost.
const farAway = 1<<63 - 1

// jiffy is the unit of /proc/stat: USER_HZ is 100 on every Linux that Go runs on.
const jiffy = 10 * time.Millisecond

func bindStealWatcher(o pauseOptions) (watcher, error) { return &stealWatcher{least: o.least}, nil }

func (*stealWatcher) columns() []string { return []string{"cpu", "error_ns"} }

func (w *stealWatcher) close() { w.file.Close() }

func (w *stealWatcher) open(_ context.Context, s schedule) ([]datasets.Field, error) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return nil, fmt.Errorf("of=vm: %w", err)
	}
	w.file, w.cpus = f, nil
	w.buf = make([]byte, 4<<10)
	if err := w.look(nil); err != nil {
		w.close()
		return nil, err
	}
	return []datasets.Field{
		{Key: "watched", Value: "steal of each CPU"},
		{Key: datasets.KeySchedule, Value: slowed(s).String()},
		timerFact(),
		duration("resolution", jiffy),
		count("watched-cpus", int64(len(w.cpus))),
	}, nil
}

func (w *stealWatcher) watch(ctx context.Context, s schedule, epoch time.Time, seen chan<- datasets.Pause) ([]datasets.Field, error) {
	s = slowed(s)
	var looks readings
	var stolen time.Duration
	start := time.Now()
	before := start
	err := looks.each(ctx, s, start, func(datasets.Instant, time.Duration) error {
		now := time.Now()
		window := now.Sub(before)
		err := w.look(func(cpu *stolenCPU, more time.Duration) {
			stolen += more
			if more >= w.least {
				seen <- datasets.Pause{
					At: datasets.Instant(now.Sub(epoch) - max(more, (more+window)/2)), Length: more, Cause: "steal",
					Extra: cpu.name + "\t" + strconv.FormatInt(int64(jiffy), 10),
				}
			}
		})
		before = now
		return err
	})
	if err != nil {
		return nil, err
	}
	trailer := append(looks.fields(), count("looks", looks.late.n), duration("stolen", stolen))
	if span := before.Sub(start); span > 0 {
		trailer = append(trailer, duration(datasets.KeyObserved, span))
	}
	return trailer, nil
}

// slowed returns the schedule at which there can be anything new.
func slowed(s schedule) schedule {
	s.interval = max(s.interval, jiffy)
	return s
}

// look tells what was taken from each CPU since the last look.
func (w *stealWatcher) look(tell func(cpu *stolenCPU, more time.Duration)) error {
	text, err := w.read()
	if err != nil {
		return fmt.Errorf("of=vm: /proc/stat: %w", err)
	}
	seen := 0
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		if name, stole, ok := parseSteal(line); ok {
			w.take(seen, name, stole, tell)
			seen++
		}
	}
	if seen == 0 {
		return errors.New("of=vm: /proc/stat tells no steal of a CPU")
	}
	return nil
}

// read returns at least the lines of the CPUs, which stand first.
func (w *stealWatcher) read() ([]byte, error) {
	for {
		n, err := unix.Pread(int(w.file.Fd()), w.buf, 0)
		if err != nil || n < len(w.buf) || bytes.Contains(w.buf, []byte("\nintr ")) {
			return w.buf[:max(n, 0)], err
		}
		w.buf = make([]byte, 2*len(w.buf))
	}
}

// take compares the i-th CPU that was read with what it was. CPUs come and go.
func (w *stealWatcher) take(i int, name []byte, stole time.Duration, tell func(cpu *stolenCPU, more time.Duration)) {
	if i == len(w.cpus) {
		w.cpus = append(w.cpus, stolenCPU{string(name), stole})
	}
	cpu := &w.cpus[i]
	if string(name) != cpu.name {
		*cpu = stolenCPU{string(name), stole}
	}
	if more := stole - cpu.stole; tell != nil && more > 0 {
		tell(cpu, more)
	}
	cpu.stole = stole
}

// parseSteal reads the eighth number of the line of one CPU: "cpu0 user nice system idle
// iowait irq softirq steal …" (proc(5)). The line of all together is none.
func parseSteal(line []byte) (cpu []byte, stole time.Duration, ok bool) {
	word, rest, _ := bytes.Cut(line, []byte{' '})
	cpu, ok = bytes.CutPrefix(word, []byte("cpu"))
	for range 8 {
		word, rest, _ = bytes.Cut(rest, []byte{' '})
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	return cpu, time.Duration(n) * jiffy, ok && len(cpu) > 0 && err == nil && n >= 0 && n < int64(farAway/jiffy)
}
