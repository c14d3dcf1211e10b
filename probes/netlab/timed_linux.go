package netlab

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// Timed is Run with a time of its own to end in, and returns what the command wrote to its
// standard output and the processor time that it and its children took.
func (n Namespace) Timed(tb testing.TB, limit time.Duration, command string, args ...string) (output string, cpu time.Duration, err error) {
	tb.Helper()
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	var out bytes.Buffer
	c := n.command(ctx, tb, command, args...)
	c.Stdout = &out
	done := make(chan error)
	go func() { done <- withoutClock(c.Run) }()
	err = <-done
	if c.ProcessState != nil {
		cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return out.String(), cpu, err
}
