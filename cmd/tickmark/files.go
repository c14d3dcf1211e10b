package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// replaceFile writes a file under its final name only when it is whole. A link is
// followed; a device or a pipe is written to as it is.
func replaceFile(path string, write func(io.Writer) error) error {
	place, special, err := placeFor(path)
	if err != nil {
		return err
	}
	if special {
		return writeInto(place, write)
	}
	f, err := os.CreateTemp(filepath.Dir(place), "."+filepath.Base(place)+".*")
	if err != nil {
		return renamed(path, err)
	}
	if err := finish(f, write); err != nil {
		os.Remove(f.Name())
		return renamed(path, err)
	}
	return renamed(path, os.Rename(f.Name(), place))
}

func finish(f *os.File, write func(io.Writer) error) error {
	err := write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// linked returns where a link to nothing leads, and path itself if it is no link.
func linked(path string) string {
	to, err := os.Readlink(path)
	switch {
	case err != nil:
		return path
	case filepath.IsAbs(to):
		return to
	}
	return filepath.Join(filepath.Dir(path), to)
}

func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return plainPathError(err)
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return renamed(path, err)
}

// placeFor follows links to where a file of this name is to be written, and tells
// whether something stands there that is no regular file. A folder is refused.
func placeFor(path string) (place string, special bool, err error) {
	if place, err = filepath.EvalSymlinks(path); err != nil {
		return linked(path), false, nil // nothing is there yet
	}
	info, err := os.Stat(place)
	if err != nil {
		return "", false, plainPathError(err)
	}
	if info.IsDir() {
		return "", false, fmt.Errorf("%s: a folder: want the name of a file", path)
	}
	return place, !info.Mode().IsRegular(), nil
}

// renamed gives an error of a file the name that the user knows it by.
func renamed(path string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return fmt.Errorf("%s: %w", path, p.Err)
	case errors.As(err, &l):
		return fmt.Errorf("%s: %w", path, l.Err)
	}
	return err
}

// checkTraceName refuses a name that promises a format which is not written.
func checkTraceName(verb, path string) error {
	if ext := filepath.Ext(path); slices.Contains([]string{".parquet", ".csv", ".json", ".jsonl", ".hlog", ".hgrm", ".prom"}, ext) {
		return usagef("%s: -o %q: a native trace is written: want a name such as %s.trace (.gz and .zst compress)",
			verb, path, strings.TrimSuffix(filepath.Base(path), ext))
	}
	return nil
}
