package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

// input is how a verb that takes traces was asked to read them.
type input struct{ format string }

func (i *input) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.format, "format", "", "read the input as this `spec` (tickmark list formats) whatever it looks like")
}

// open reads TRACE, "-" being standard input. The closer must be called.
func (i *input) open(s *streams, path string) (datasets.Stream, func(), error) {
	var given datasets.Format
	if i.format != "" {
		f, _, err := datasets.Formats().Parse("format", i.format)
		if err != nil {
			return nil, nil, err
		}
		given = f
	}
	name, r, closeFile := displayName(path), s.in, func() {}
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, plainPathError(err)
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			f.Close()
			return nil, nil, fmt.Errorf("%s: a folder: want a trace in it", path)
		}
		r, closeFile = f, func() { f.Close() }
	}
	stream, err := datasets.Open(name, r, given)
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return stream, closeFile, nil
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
	if p, ok := err.(*os.PathError); ok { //nolint:errorlint // os returns it bare, and only its own text is changed
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

// replaceFile writes a file under its final name only when it is whole.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return plainPathError(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
