package probes_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

const (
	childSpecKey   = "TICKMARK_TEST_CHILD_SPEC"
	childTargetKey = "TICKMARK_TEST_CHILD_TARGET"
	childBusyKey   = "TICKMARK_TEST_CHILD_BUSY"
)

// TestChild is no test: it is the process that stopAChild stops. It runs a probe until
// its standard input is closed or the probe has done its work, and writes the trace to
// file descriptor 3.
func TestChild(t *testing.T) {
	spec := os.Getenv(childSpecKey)
	if spec == "" {
		t.Skip("runs as the child of other tests alone")
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if os.Getenv(childBusyKey) != "" {
		for range 2 * runtime.GOMAXPROCS(0) {
			go func() {
				for ctx.Err() == nil {
				}
			}()
		}
	}
	out := &toFile{file: os.NewFile(3, "trace")}
	if err := parse(t, spec).Run(ctx, os.Getenv(childTargetKey), probes.Plan{}, out); err != nil {
		t.Fatal(err)
	}
}

// toFile is a recorder that writes a trace, each row at once.
type toFile struct {
	file   *os.File
	writer *datasets.Writer
}

func (f *toFile) Begin(h *datasets.Header) (err error) {
	f.writer, err = datasets.NewWriter(f.file, h)
	return err
}

func (f *toFile) Record(row datasets.Row) error {
	if err := f.writer.Write(row); err != nil {
		return err
	}
	return f.writer.Flush()
}

func (f *toFile) End(trailer ...datasets.Field) error { return f.writer.Close(trailer...) }

// A process that was stopped for 500 ms has overslept that long, less the one sleep of
// 1 ms that it may have been in. Beside others in it that keep the processors busy, it
// may have to wait for one as well.
func TestPauseSeesAStop(t *testing.T) {
	for _, kind := range []struct {
		name, busy string
		within     time.Duration
	}{{"idle", "", 5 * time.Millisecond}, {"busy", "1", patience}} {
		t.Run(kind.name, func(t *testing.T) {
			bestOf(t, kind.within, func() (time.Duration, string) {
				tr, from, to := stopAChild[datasets.Pause](t, childSpecKey+"=pause:min=0s", childBusyKey+"="+kind.busy)
				stopped := to.Sub(from)
				var longest datasets.Pause
				for _, p := range tr.rows {
					if p.Length > longest.Length {
						longest = p
					}
				}
				if longest.Length < stopped-2*time.Millisecond || longest.Cause != "" {
					t.Errorf("stopped from outside for %v, read as %v, blamed on %q", stopped, longest.Length, longest.Cause)
				}
				return longest.Length - stopped, fmt.Sprintf("stopped for %v, read as %v", stopped, longest.Length)
			})
		})
	}
}

// What a round trip contains of a stop is marked as ours: for an attempt that was due
// meanwhile all that was left of the stop. The stop of this process is seen by sleeps of
// 10 ms where it does not show in the sending itself.
func TestRoundTripsTellOurStops(t *testing.T) {
	listener, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	for spec, target := range map[string]string{
		"udp": echoServer(t, loopback).UDPAddr().String(), "tcp": listener.Addr().String(),
	} {
		t.Run(spec, func(t *testing.T) {
			tr, from, to := stopAChild[datasets.Sample](t, childSpecKey+"="+spec, childTargetKey+"="+target)
			epoch, ok := tr.Epoch()
			if !ok {
				t.Fatal("no epoch")
			}
			begin, end := datasets.Instant(from.Sub(epoch)), datasets.Instant(to.Sub(epoch))
			const unseen = 15 * time.Millisecond
			during, least := 0, time.Hour
			for _, s := range tr.rows {
				if s.Due < begin || s.Due >= end {
					continue
				}
				during++
				least = min(least, s.Stall-end.Sub(s.Due))
				if latency, ok := s.Latency(); !ok || s.Stall <= 0 || s.Stall > latency || s.Stall < end.Sub(s.Due)-unseen {
					t.Errorf("attempt %d was due %v before the stop ended: %s, latency %v, stall %v", s.Seq, end.Sub(s.Due), s.Outcome, latency, s.Stall)
				}
			}
			t.Logf("%d attempts during a stop of %v, of %d; marked as ours: the rest of the stop and at least %v", during, to.Sub(from), len(tr.rows), least)
			if during < 40 {
				t.Errorf("%d attempts were due during %v", during, to.Sub(from))
			}
		})
	}
}

// stopAChild has a child run a probe, stops it for 500 ms, and returns its trace and
// from when to when it was certainly stopped.
func stopAChild[T any, R interface {
	*T
	datasets.Row
}](t *testing.T, env ...string) (tr trace[T], from, to time.Time) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	child.Env = append(os.Environ(), env...)
	child.ExtraFiles = []*os.File{w}
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	rec := &recording{}
	lines := bufio.NewReader(r)
	line := func() string {
		text, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("the child wrote %q: %v", rec.file.String(), err)
		}
		rec.file.WriteString(text)
		return text
	}
	for strings.Contains(line(), ": ") || rec.file.Len() < 100 { // up to the line of columns
	}
	line() // it measures
	signal := func(s syscall.Signal) {
		if err := child.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(child.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the child did not stop: %v, status %v", err, status)
	}
	from = time.Now()
	<-time.NewTimer(500 * time.Millisecond).C
	to = time.Now()
	signal(syscall.SIGCONT)
	for range 60 { // it runs again: all that fell due meanwhile, and more
		line()
	}
	stdin.Close()
	if _, err := io.Copy(&rec.file, lines); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatalf("child: %v", err)
	}
	return read[T, R](t, rec), from, to
}
