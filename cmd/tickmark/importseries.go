package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tickmark/tickmark/datasets"
)

// mostSeries is how many traces are written at a time; each is an open file.
const mostSeries = 500

// seriesFolder writes every series of a file as a trace of its own, in one reading.
// Nothing has its final name before all of it is there.
type seriesFolder struct {
	folder string
	base   string // what the names of the traces begin with
	files  map[*datasets.Series]*seriesFile
	taken  map[string]bool
}

type seriesFile struct {
	final  string
	temp   *os.File
	zip    datasets.Compressor
	out    *datasets.Writer
	header *datasets.Header // as it was written
}

// importSeries writes the series of a file into a folder, and returns how many rows each
// trace got.
func importSeries(f *datasets.Foreign, folder, path string) (rows int64, names []string, err error) {
	w := &seriesFolder{folder: folder, base: traceBase(path), files: map[*datasets.Series]*seriesFile{}, taken: map[string]bool{}}
	defer w.discard()
	for s, row, ok := f.Any(); ok; s, row, ok = f.Any() {
		file, err := w.of(s)
		if err == nil {
			err = file.out.Write(row)
		}
		if err != nil {
			return 0, nil, err
		}
		rows++
	}
	if err := f.Err(); err != nil {
		return 0, nil, err
	}
	names, err = w.finish(f)
	return rows, names, err
}

func traceBase(path string) string {
	base := filepath.Base(path)
	for _, zip := range []string{".gz", ".zst"} {
		base = strings.TrimSuffix(base, zip)
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func (w *seriesFolder) of(s *datasets.Series) (*seriesFile, error) {
	if file := w.files[s]; file != nil {
		return file, nil
	}
	if len(w.files) == mostSeries {
		return nil, fmt.Errorf("%s: more than %d series: import one at a time by FILE#NAME", w.base, mostSeries)
	}
	file := &seriesFile{final: filepath.Join(w.folder, w.name(s.Name)), header: s.Header.Clone()}
	temp, err := os.CreateTemp(w.folder, "."+filepath.Base(file.final)+".*")
	if err != nil {
		return nil, plainPathError(err)
	}
	file.temp = temp
	w.files[s] = file
	if file.zip, err = datasets.Compress(file.final, temp); err != nil {
		return nil, err
	}
	file.out, err = datasets.NewWriter(file.zip, file.header)
	return file, err
}

// name returns a file name that no other series has: what is no letter, digit or one of
// ".-" becomes "_".
func (w *seriesFolder) name(series string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, series)
	const longest = 100
	name := w.base + "-" + plain[:min(len(plain), longest)]
	if series == "" {
		name = w.base
	}
	for i, free := 2, name; ; i++ {
		if !w.taken[free] {
			w.taken[free] = true
			return free + ".trace"
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
}

// finish ends all traces and gives them their names.
func (w *seriesFolder) finish(f *datasets.Foreign) (names []string, err error) {
	for _, s := range f.Series() {
		file := w.files[s]
		if file == nil {
			continue // a series without rows
		}
		if err := file.close(trailerOf(file.header, s.Header, f.Warnings())); err != nil {
			return nil, renamed(file.final, err)
		}
	}
	for _, s := range f.Series() {
		if file := w.files[s]; file != nil {
			if err := os.Rename(file.temp.Name(), file.final); err != nil {
				return nil, renamed(file.final, err)
			}
			names = append(names, file.final)
			delete(w.files, s)
		}
	}
	return names, nil
}

func (f *seriesFile) close(trailer []datasets.Field) error {
	err := f.out.Close(trailer...)
	if err == nil {
		err = f.zip.Close()
	}
	return finish(f.temp, func(io.Writer) error { return err })
}

// discard removes what has no final name yet.
func (w *seriesFolder) discard() {
	for _, file := range w.files {
		file.temp.Close()
		os.Remove(file.temp.Name())
	}
}
