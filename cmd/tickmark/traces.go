package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/corpus"
)

// input is how a verb that takes traces was asked to read them.
type input struct{ format string }

func (i *input) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.format, "format", "", "read the input as this `spec` (tickmark list formats) whatever it looks like")
	complete(cmd, "format", datasets.Formats().Names())
}

// open reads TRACE, "-" being standard input, FILE#NAME one series of a file of another
// tool, and a pattern all files that it matches as one trace, until ctx is done. The closer
// must be called.
func (i *input) open(ctx context.Context, s *streams, path string) (datasets.Stream, func(), error) {
	file, series, chosen := cutSeries(path)
	files, err := matching(file)
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 1 {
		return i.openFile(ctx, s, files[0], series, chosen)
	}
	return i.openAll(ctx, s, files, series, chosen)
}

func (i *input) openFile(ctx context.Context, s *streams, file, series string, chosen bool) (datasets.Stream, func(), error) {
	var given datasets.Format
	if i.format != "" {
		f, _, err := datasets.Formats().Parse("format", i.format)
		if err != nil {
			return nil, nil, err
		}
		given = f
	}
	r, closeFile, err := openFile(ctx, s, file)
	if err != nil {
		return nil, nil, err
	}
	var stream datasets.Stream
	if chosen {
		stream, err = datasets.OpenSeries(displayName(file), series, r, given)
	} else {
		stream, err = datasets.Open(displayName(file), r, given)
	}
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return stream, closeFile, nil
}

// cutSeries splits FILE#NAME. A file that there is under the whole name is meant by it.
func cutSeries(path string) (file, series string, chosen bool) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 {
		return path, "", false
	}
	if _, err := os.Lstat(path); err == nil {
		return path, "", false
	}
	return path[:i], path[i+1:], true
}

// each hands over every series of every TRACE, one after the other, under the name that
// it alone has.
func (i *input) each(ctx context.Context, s *streams, paths []string, use func(name string, rows datasets.Stream) error) error {
	for _, path := range paths {
		others, err := i.first(ctx, s, path, use)
		for _, series := range others {
			if err == nil {
				_, err = i.first(ctx, s, path+"#"+series, use)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// first hands over one series of a TRACE, and returns the names of the others in its file:
// none if this one was asked for.
func (i *input) first(ctx context.Context, s *streams, path string, use func(string, datasets.Stream) error) (others []string, err error) {
	rows, done, err := i.open(ctx, s, path)
	if err != nil {
		return nil, err
	}
	defer done()
	f, foreign := rows.(*datasets.Foreign)
	_, _, chosen := cutSeries(path)
	if !foreign || chosen || path == "-" {
		return nil, use(displayName(path), rows)
	}
	mine := f.Series()[0].Name
	if err := f.Choose(mine); err != nil {
		return nil, err
	}
	if err := use(displayName(path), rows); err != nil {
		return nil, err
	}
	for _, series := range f.Series() {
		if series.Name != mine && series.Rows > 0 {
			others = append(others, series.Name)
		}
	}
	return others, nil
}

func openFile(ctx context.Context, s *streams, path string) (io.Reader, func(), error) {
	if path == "-" {
		return &waiting{ctx: ctx, r: s.in}, func() {}, nil
	}
	if name, ok := strings.CutPrefix(path, corpus.Prefix); ok {
		f, err := corpus.Open(name)
		return f, func() {}, err
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
		return &stoppable{ctx, f, info.Size()}, func() { f.Close() }, nil
	}
	return &waiting{ctx: ctx, r: f}, func() { f.Close() }, nil
}

// stoppable is a file, which never waits long, stopped between two reads.
type stoppable struct {
	ctx  context.Context
	f    *os.File
	size int64
}

func (s *stoppable) ReadAt(p []byte, at int64) (int, error) {
	if s.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return s.f.ReadAt(p, at)
}

func (s *stoppable) Size() int64 { return s.size }

func (s *stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return s.f.Read(p)
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
