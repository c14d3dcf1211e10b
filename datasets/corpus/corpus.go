// Package corpus has recordings that tickmark made itself, on this and that path and host,
// to try things on and to hold analyses to: what is true of each is known, and stands in
// its header, as does how it was made. testdata/make/make.sh makes them anew.
package corpus

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Prefix stands before the name of a recording wherever a trace is wanted.
const Prefix = "builtin:"

// The header keys that every recording has beside those of its probe.
const (
	KeyTitle = "title" // what it shows, in a line
	KeyMade  = "made"  // how it was made
	KeyTruth = "truth" // what is known of it from elsewhere
)

const ending = ".trace.zst"

//go:embed *.trace.zst
var files embed.FS

// Names returns the recordings, sorted.
func Names() []string {
	var names []string
	entries, _ := files.ReadDir(".") // an embedded folder can be read
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ending))
	}
	slices.Sort(names)
	return names
}

// Open returns the bytes of a recording, compressed, by its name without Prefix. An
// unknown name is a *spec.UsageError that lists the known ones.
func Open(name string) (io.ReadCloser, error) {
	if !slices.Contains(Names(), name) {
		return nil, spec.Unknown("dataset", name, Names())
	}
	return files.Open(name + ending)
}

// Header returns the header of a recording.
func Header(name string) (*datasets.Header, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := datasets.Open(Prefix+name, f, nil)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return s.Header(), nil
}
