package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// recorder writes what a probe measures to a trace as it is measured: each row, or all
// that a probe hands over at once, has reached the operating system before the next one
// is taken, so a killed process loses none. A compressed file is flushed once a second
// instead.
type recorder struct {
	zip     datasets.Compressor
	w       *datasets.Writer
	every   time.Duration
	flushed time.Time
	held    bool
	waiting int64 // rows that are not counted yet
	rows    atomic.Int64
	closers []io.Closer
	undo    func() // takes back what was done for a recording that never began; may be nil
}

// recordTo creates the file, keeping an older one of that name beside it as NAME~. A
// device or a pipe of that name is written to.
func recordTo(path string, s *streams) (*recorder, error) {
	place, special, err := placeFor(path)
	if err != nil {
		return nil, err
	}
	undo := func() { os.Remove(place) }
	if _, err := os.Stat(place); err == nil && !special {
		if err := os.Rename(place, place+"~"); err != nil {
			return nil, renamed(path, err)
		}
		undo = func() { _ = os.Rename(place+"~", place) }
		fmt.Fprintf(s.err, "%s: an older file of this name is kept as %s~\n", path, place)
	}
	f, err := os.Create(place)
	if err != nil {
		return nil, renamed(path, err)
	}
	r, err := newRecorder(path, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.closers = append(r.closers, f)
	if !special {
		r.undo = undo
	}
	return r, nil
}

func newRecorder(name string, w io.Writer) (*recorder, error) {
	zip, err := datasets.Compress(name, w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &recorder{zip: zip, closers: []io.Closer{zip}}
	if strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") {
		r.every = time.Second
	}
	return r, nil
}

func (r *recorder) Begin(h *datasets.Header) (err error) {
	r.w, err = datasets.NewWriter(r.zip, h)
	return err
}

func (r *recorder) Record(row datasets.Row) error {
	if err := r.w.Write(row); err != nil {
		return err
	}
	r.waiting++
	return r.flush()
}

// Hold lets rows wait for Release: writing each costs five times as much, and a burst of
// that delays what is being measured.
func (r *recorder) Hold() { r.held = true }

// Release writes what waits.
func (r *recorder) Release() error {
	r.held = false
	return r.flush()
}

// flush hands on what waits, if it is time to, and counts it.
func (r *recorder) flush() error {
	if r.held {
		return nil
	}
	if r.mayFlush() {
		if err := r.w.Flush(); err != nil {
			return err
		}
	}
	r.rows.Add(r.waiting)
	r.waiting = 0
	return nil
}

// mayFlush reports whether it is time to.
func (r *recorder) mayFlush() bool {
	if r.every == 0 {
		return true
	}
	now := time.Now()
	due := now.Sub(r.flushed) >= r.every
	if due {
		r.flushed = now
	}
	return due
}

func (r *recorder) End(trailer ...datasets.Field) error { return r.w.Close(trailer...) }

// Close closes the file; the first error is returned, and all are closed. Of a recording
// that never began nothing is left, and an older file has its name again.
func (r *recorder) Close() error {
	var first error
	for _, c := range r.closers {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	if r.w == nil && r.undo != nil {
		r.undo()
		r.undo = nil
	}
	return first
}
