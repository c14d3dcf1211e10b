package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/serve"
)

// TestKilledRecordingIsReadable kills -9 a probe while it records and reads what it
// left: every line that reached the file, and a warning.
func TestKilledRecordingIsReadable(t *testing.T) {
	server, err := serve.Start(serve.Config{UDP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	path := filepath.Join(t.TempDir(), "killed.trace")
	cmd := exec.Command(tickmarkCommand(t), "probe", "udp", "-o", path, "--interval", "1ms", server.UDPAddr().String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "100 lines", func() bool {
		data, _ := os.ReadFile(path)
		return bytes.Count(data, []byte("\n")) > 100
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := datasets.Open(path, bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := analysis.Summarise(path, rows)
	if err != nil {
		t.Fatal(err)
	}
	whole := int64(bytes.Count(data, []byte("\treplied\t")) + bytes.Count(data, []byte("\ttimed-out\t")))
	if data[len(data)-1] != '\n' {
		whole-- // the line that was being written
	}
	if sum.Trips.Samples < 80 || sum.Trips.Samples < whole {
		t.Errorf("%d samples read of %d whole lines", sum.Trips.Samples, whole)
	}
	if len(sum.Warnings) == 0 || !bytes.Contains([]byte(sum.Warnings[0]), []byte("cut off")) {
		t.Errorf("warnings %q, want one that it was cut off", sum.Warnings)
	}
}

// TestInterruptKeepsWhatIsDone sends Ctrl-C to a probe that would never end.
func TestInterruptKeepsWhatIsDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clock.trace")
	var stderr bytes.Buffer
	cmd := exec.Command(tickmarkCommand(t), "probe", "clock", "-o", path, "--interval", "1ms")
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "50 lines", func() bool {
		data, _ := os.ReadFile(path)
		return bytes.Count(data, []byte("\n")) > 50
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit %d, want %d", code, exitInterrupted)
	}
	data, _ := os.ReadFile(path)
	if !bytes.Contains(data, []byte("\n# end: ")) {
		t.Error("the recording was not ended")
	}
	if !bytes.Contains(stderr.Bytes(), []byte(" samples kept in "+path)) {
		t.Errorf("stderr %q", stderr.String())
	}
}

// TestInterruptEndsAWaitingReader sends Ctrl-C to a verb whose input never comes.
func TestInterruptEndsAWaitingReader(t *testing.T) {
	for _, verb := range []string{"show", "tune"} {
		ctx, cancel := context.WithCancel(t.Context())
		pending, _ := io.Pipe()
		done := make(chan int)
		go func() { done <- run(ctx, []string{verb, "-"}, pending, io.Discard, io.Discard) }()
		cancel()
		if code := <-done; code != exitInterrupted {
			t.Errorf("%s: exit %d, want %d", verb, code, exitInterrupted)
		}
	}
}

// tickmarkCommand returns a path that runs this test binary as tickmark.
func tickmarkCommand(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tickmark")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// waitFor polls until ready, for at most 30 s.
func waitFor(t *testing.T, what string, ready func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(30 * time.Second)
	for !ready() {
		select {
		case <-timeout:
			t.Fatalf("%s did not come", what)
		case <-tick.C:
		}
	}
}
