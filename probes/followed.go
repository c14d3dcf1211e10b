package probes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// followed is a log that is read while another program writes it. It is followed by its
// name: when another file stands there (the program renamed the old one), or the file
// became shorter, reading goes on at the beginning. The name may be a pattern
// (gc.log.*.current), of which the file that was written last is followed.
type followed struct {
	pattern   string
	file      *os.File
	info      os.FileInfo // of file
	offset    int64
	rest      []byte // a line without its end so far
	buf       []byte
	rotations int64
}

const (
	// mostHistory is how much of what was there before is read.
	mostHistory = 256 << 10
	// longestLine is what is kept of a line that has no end so far.
	longestLine = 64 << 10
)

// open opens the log near its end.
func (f *followed) open() error {
	path, info := f.find()
	if info == nil {
		return fmt.Errorf("log %q: there is no such file, or it may not be looked at; the program must have opened it before", f.pattern)
	}
	if err := f.use(path); err != nil {
		return err
	}
	f.buf = make([]byte, 32<<10)
	f.rotations, f.offset, f.rest = 0, max(0, f.info.Size()-mostHistory), nil
	return nil
}

func (f *followed) use(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("log %q: %w", f.pattern, errors.Unwrap(err))
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return fmt.Errorf("log %q: %w", f.pattern, err)
	}
	f.close()
	f.file, f.info, f.offset = file, info, 0
	f.rest = f.rest[:0]
	return nil
}

func (f *followed) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// find returns the file that has the name now, or no info.
func (f *followed) find() (path string, info os.FileInfo) {
	if info, err := os.Stat(f.pattern); err == nil {
		return f.pattern, info
	}
	paths, err := filepath.Glob(f.pattern)
	if err != nil {
		return "", nil
	}
	var newest time.Time
	for _, p := range paths {
		if i, err := os.Stat(p); err == nil && (info == nil || i.ModTime().After(newest)) {
			path, info, newest = p, i, i.ModTime()
		}
	}
	return path, info
}

// more hands over the lines that were written since the last time.
func (f *followed) more(take func(line []byte)) error {
	if err := f.read(take); err != nil {
		return err
	}
	path, info := f.find()
	switch {
	case info == nil: // between two files
		return nil
	case !os.SameFile(info, f.info):
		if err := f.read(take); err != nil { // what came before it was renamed
			return err
		}
		if err := f.use(path); errors.Is(err, os.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
	case info.Size() < f.offset:
		f.offset, f.rest = 0, f.rest[:0]
	default:
		return nil
	}
	f.rotations++
	return f.read(take)
}

// read reads to the end of the file.
func (f *followed) read(take func(line []byte)) error {
	for {
		n, err := f.file.ReadAt(f.buf, f.offset)
		f.offset += int64(n)
		f.lines(f.buf[:n], take)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("log %q: %w", f.pattern, err)
		}
	}
}

func (f *followed) lines(text []byte, take func(line []byte)) {
	for len(text) > 0 {
		line, after, ended := bytes.Cut(text, []byte{'\n'})
		text = after
		if len(f.rest) > 0 || !ended {
			f.rest = append(f.rest, line[:min(len(line), longestLine-len(f.rest))]...)
			line = f.rest
		}
		if ended {
			take(line)
			f.rest = f.rest[:0]
		}
	}
}
