package probes_test

import (
	"bufio"
	"context"
	"io"
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

const childKey = "TICKMARK_TEST_PAUSE_CHILD"

// TestPauseChild is no test: it is the process that TestPauseSeesAStop stops. It
// measures itself until its standard input is closed and writes the trace to file
// descriptor 3.
func TestPauseChild(t *testing.T) {
	kind := os.Getenv(childKey)
	if kind == "" {
		t.Skip("runs as the child of TestPauseSeesAStop alone")
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if kind == "busy" {
		for range 2 * runtime.GOMAXPROCS(0) {
			go func() {
				for ctx.Err() == nil {
				}
			}()
		}
	}
	out := &toFile{file: os.NewFile(3, "trace")}
	if err := parse(t, "pause:min=0s").Run(ctx, "", probes.Plan{}, out); err != nil {
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

// A process that was stopped for 500 ms has slept at least that long, less the one
// sleep of 1 ms that it may have been in.
func TestPauseSeesAStop(t *testing.T) {
	for _, kind := range []string{"idle", "busy"} {
		t.Run(kind, func(t *testing.T) {
			tr, stopped := stopAChild(t, kind)
			var longest datasets.Pause
			for _, p := range tr {
				if p.Length > longest.Length {
					longest = p
				}
			}
			t.Logf("stopped for %v, read as %v, cause %q", stopped, longest.Length, longest.Cause)
			if longest.Length < 490*time.Millisecond || longest.Length < stopped-2*time.Millisecond || longest.Length > stopped+patience {
				t.Errorf("stopped for %v, read as %v", stopped, longest.Length)
			}
			if longest.Cause != "" {
				t.Errorf("a stop from outside is blamed on %s", longest.Cause)
			}
		})
	}
}

// stopAChild stops a child that measures itself for 500 ms, and returns its rows
// and how long it was certainly stopped.
func stopAChild(t *testing.T, kind string) ([]datasets.Pause, time.Duration) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPauseChild$", "-test.count=1")
	child.Env = append(os.Environ(), childKey+"="+kind)
	child.ExtraFiles = []*os.File{w}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	trace := bufio.NewReader(r)
	var head strings.Builder
	for rows := 0; rows == 0; { // the line after that of the columns says that it watches
		if strings.Contains(head.String(), "\nat\t") {
			rows++
		}
		line, err := trace.ReadString('\n')
		if err != nil {
			t.Fatalf("the child wrote %q: %v", head.String(), err)
		}
		head.WriteString(line)
	}
	pid := child.Process.Pid
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(pid, s); err != nil {
			t.Fatal(err)
		}
	}
	signal(syscall.SIGSTOP)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the child did not stop: %v, status %v", err, status)
	}
	start := time.Now()
	<-time.NewTimer(500 * time.Millisecond).C
	stopped := time.Since(start)
	signal(syscall.SIGCONT)
	if line, err := trace.ReadString('\n'); err == nil { // it runs again and has seen it
		head.WriteString(line)
	}
	stdin.Close()
	s, err := datasets.Open("child", io.MultiReader(strings.NewReader(head.String()), trace), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rows []datasets.Pause
	for p := (datasets.Pause{}); s.Next(&p); {
		rows = append(rows, p)
	}
	if err := child.Wait(); err != nil || s.Err() != nil || len(s.Warnings()) > 0 {
		t.Fatalf("child: %v; its trace: %v, %q", err, s.Err(), s.Warnings())
	}
	return rows, stopped
}
