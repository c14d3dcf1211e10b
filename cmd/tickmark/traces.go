package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

// input is how a verb that takes traces was asked to read them.
type input struct{ format string }

func (i *input) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.format, "format", "", "read the input as this `spec` (tickmark list formats) whatever it looks like")
	complete(cmd, "format", datasets.Formats().Names())
}

// open reads TRACE, "-" being standard input, until ctx is done. The closer must be
// called.
func (i *input) open(ctx context.Context, s *streams, path string) (datasets.Stream, func(), error) {
	var given datasets.Format
	if i.format != "" {
		f, _, err := datasets.Formats().Parse("format", i.format)
		if err != nil {
			return nil, nil, err
		}
		given = f
	}
	r, closeFile, err := openFile(ctx, s, path)
	if err != nil {
		return nil, nil, err
	}
	stream, err := datasets.Open(displayName(path), r, given)
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return stream, closeFile, nil
}

func openFile(ctx context.Context, s *streams, path string) (io.Reader, func(), error) {
	if path == "-" {
		return &waiting{ctx: ctx, r: s.in}, func() {}, nil
	}
	// Opening a FIFO waits for its writer.
	f, err := await(ctx, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return nil, nil, plainPathError(err)
	}
	info, err := f.Stat()
	switch {
	case err == nil && info.IsDir():
		f.Close()
		return nil, nil, fmt.Errorf("%s: a folder: want a trace in it", path)
	case err == nil && info.Mode().IsRegular():
		return &stoppable{ctx, f}, func() { f.Close() }, nil
	}
	return &waiting{ctx: ctx, r: f}, func() { f.Close() }, nil
}

// stoppable is a reader that never waits long, stopped between two reads.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return s.r.Read(p)
}

// waiting is a reader that may wait for ever, such as a pipe. A read cannot be taken
// back, so the one under way when ctx is done is left to the end of the process.
type waiting struct {
	ctx context.Context
	r   io.Reader
	buf []byte
}

func (w *waiting) Read(p []byte) (int, error) {
	if w.buf == nil {
		w.buf = make([]byte, 64<<10)
	}
	into := w.buf[:min(len(p), len(w.buf))]
	n, err := await(w.ctx, func() (int, error) { return w.r.Read(into) })
	if errors.Is(err, errInterrupted) {
		w.buf = nil // still written to
		return 0, err
	}
	return copy(p, into[:n]), err
}

// await returns what f returns, or errInterrupted as soon as ctx is done.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, errInterrupted
	}
}

// displayName is what a trace is called in tables and errors.
func displayName(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// plainPathError says "a.trace: no such file" without the system call's name.
func plainPathError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// wantKind refuses a trace whose rows a verb has no use for.
func wantKind(name string, h *datasets.Header, verb string, kinds ...datasets.Kind) error {
	if slices.Contains(kinds, h.Kind()) {
		return nil
	}
	return fmt.Errorf("%s: holds %s rows, and %s wants %s", name, h.Kind(), verb, kinds[0])
}
