package probes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/probes/cgroup"
)

// ownThread gives the calling goroutine a thread for itself, which ends with it, and
// that SCHED_FIFO at a priority, if above 0 and allowed. Threads and processes that
// come of it do not inherit that.
func ownThread(priority int) scheduling {
	runtime.LockOSThread()
	if priority == 0 {
		return scheduling{}
	}
	err := unix.SchedSetAttr(0, &unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: uint32(priority),
	}, 0)
	if err != nil {
		return scheduling{refused: fmt.Errorf("SCHED_FIFO %d was refused (%w): waiting behind other programs counts as pause; %s", priority, err, remedy(err))}
	}
	return scheduling{fifo: priority}
}

// remedy says what to do where SCHED_FIFO is refused.
func remedy(err error) string {
	h := rootFiles()
	switch {
	case !errors.Is(err, unix.EPERM):
		return "the kernel does not offer it"
	case h.WithoutRealTime(h.Dirs("self", "cpu")):
		return "the control group has no real-time budget (cpu.rt_runtime_us is 0): start from one that has"
	}
	return "needs cap_sys_nice or a limit rtprio in /etc/security/limits.conf"
}

// rootFiles is this host's file system.
func rootFiles() cgroup.Host {
	return cgroup.Host{
		Text: func(path string) (string, bool) {
			text, err := os.ReadFile("/" + path)
			return string(text), err == nil
		},
		Exists: func(path string) bool {
			_, err := os.Stat("/" + path)
			return err == nil
		},
	}
}

// tryThread returns how a thread would be scheduled, by trying it.
func tryThread(priority int) scheduling {
	got := make(chan scheduling)
	go func() { got <- ownThread(priority) }()
	return <-got
}

// pin keeps the calling thread on one CPU.
func pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("cpu %d: sched_setaffinity: %w", cpu, err)
	}
	return nil
}

// kernelTimer sleeps until a point in time (clock_nanosleep with TIMER_ABSTIME). It
// blocks its thread, so it is for one that has no other use.
type kernelTimer struct {
	start     time.Time
	monotonic int64 // CLOCK_MONOTONIC then, ns
	at        *unix.Timespec
}

func newKernelTimer() kernelTimer {
	best, narrowest := kernelTimer{at: &unix.Timespec{}}, time.Duration(1<<63-1)
	for range 20 { // of which the narrowest reading is not interrupted
		var at unix.Timespec
		before := time.Now()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &at) != nil {
			continue
		}
		if width := time.Since(before); width < narrowest {
			best, narrowest = kernelTimer{before, at.Nano() - int64(width/2), &unix.Timespec{}}, width
		}
	}
	return best
}

// until returns true at due or later, or false sooner if ctx is done.
func (k kernelTimer) until(ctx context.Context, due time.Time) bool {
	for {
		left := time.Until(due)
		if left <= 0 || ctx.Err() != nil {
			return left <= 0
		}
		wake := k.monotonic + int64(due.Sub(k.start)-max(0, left-longestNap))
		*k.at = unix.NsecToTimespec(wake)
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, k.at, nil); err != nil && !errors.Is(err, unix.EINTR) {
			time.Sleep(min(left, longestNap))
		}
	}
}

// kernelFile is a file of /proc or /sys that is read again and again.
type kernelFile struct {
	fd  int
	buf [768]byte // what is needed of each stands in the first few lines
}

func openKernelFile(path string) (*kernelFile, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return &kernelFile{fd: fd}, nil
}

// read returns the file's present contents, which the next read overwrites.
func (f *kernelFile) read() ([]byte, error) {
	for {
		n, err := unix.Pread(f.fd, f.buf[:], 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		return f.buf[:max(n, 0)], err
	}
}

func (f *kernelFile) close() { _ = unix.Close(f.fd) }

// moreProcessors gives the Go runtime n more, for threads that block in system calls,
// and returns what takes them back.
func moreProcessors(n int) (back func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + n)
	return func() { runtime.GOMAXPROCS(before) }
}
