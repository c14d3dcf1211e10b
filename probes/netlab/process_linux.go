package netlab

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Start runs a command in the namespace until the test ends, and returns a channel
// that is closed should it end before. Its output is logged if the test fails.
func (n Namespace) Start(tb testing.TB, command string, args ...string) <-chan struct{} {
	tb.Helper()
	var output bytes.Buffer // read only after the command has ended
	c := n.command(context.Background(), tb, command, args...)
	c.Stdout, c.Stderr = &output, &output
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		// The thread must live as long as the command: when it dies, so does that.
		err := withoutClock(c.Start)
		started <- err
		if err == nil {
			_ = c.Wait()
		}
	}()
	if err := <-started; err != nil {
		tb.Fatalf("%s: %v", command, err)
	}
	tb.Cleanup(func() {
		_ = unix.Kill(-c.Process.Pid, unix.SIGKILL) // its children too
		<-ended
		if tb.Failed() {
			tb.Logf("%s: %s", command, output.String())
		}
	})
	return ended
}

// Run runs a command in the namespace to its end, which must come within a minute, and
// returns what it printed.
func (n Namespace) Run(tb testing.TB, command string, args ...string) (string, error) {
	tb.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	var output bytes.Buffer
	c := n.command(ctx, tb, command, args...)
	c.Stdout, c.Stderr = &output, &output
	done := make(chan error)
	go func() { done <- withoutClock(c.Run) }()
	err := <-done
	return output.String(), err
}

// Unprivileged is Run as the user nobody, who has no capability and gains none. The
// command is copied to where nobody can read it, as a test's own binary is not.
func (n Namespace) Unprivileged(tb testing.TB, command string, args ...string) (string, error) {
	tb.Helper()
	d := newDaemon(tb)
	binary, err := os.ReadFile(Need(tb, command))
	if err != nil {
		tb.Fatal(err)
	}
	open := d.write(tb, "command", string(binary))
	for _, path := range []string{d.Dir, open} {
		if err := os.Chmod(path, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	nobody := []string{"--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", open}
	return n.Run(tb, "setpriv", append(nobody, args...)...)
}

// command is to be started by withoutClock. Should the test process be killed, it dies
// with it.
func (n Namespace) command(ctx context.Context, tb testing.TB, command string, args ...string) *exec.Cmd {
	tb.Helper()
	line := []string{"netns", "exec", n.Name}
	if n.env != nil {
		line = append(append(line, Need(tb, "env")), n.env...)
	}
	c := exec.CommandContext(ctx, Need(tb, "ip"), append(append(line, Need(tb, command)), args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	c.WaitDelay = time.Second // for a child of it that outlives it
	return c
}

// withoutClock calls start on a thread, the goroutine's own to the end, that has lost
// CAP_SYS_TIME for good: whatever it starts cannot set the clock, root or not.
func withoutClock(start func() error) error {
	runtime.LockOSThread() // not unlocked: the thread is never used again
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return os.NewSyscallError("capget", err)
	}
	// A program that root starts gets what is inheritable or in the bounding set.
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_TIME, 0, 0, 0); err != nil {
		if left, _ := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_TIME, 0, 0, 0); left != 0 && os.Geteuid() == 0 {
			return os.NewSyscallError("prctl: giving up CAP_SYS_TIME", err)
		}
	}
	const bit = uint32(1) << unix.CAP_SYS_TIME
	sets[0].Inheritable &^= bit
	sets[0].Permitted &^= bit
	sets[0].Effective &^= bit
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return os.NewSyscallError("capset", err)
	}
	return start()
}
