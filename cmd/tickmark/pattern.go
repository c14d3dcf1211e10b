package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tickmark/tickmark/datasets"
)

// matching returns the files that a pattern such as runs/*.parquet matches, in the order of
// their names; a name that is none, or that a file has, is itself.
func matching(path string) ([]string, error) {
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	if _, err := os.Lstat(path); err == nil {
		return []string{path}, nil
	}
	files, err := filepath.Glob(path)
	if err != nil {
		return nil, usagef("%s: not a pattern of file names: %v", path, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: there is no such file", path)
	}
	return files, nil
}

// openAll reads several files as one trace, in the order of their time.
func (i *input) openAll(ctx context.Context, s *streams, files []string, series string, chosen bool) (datasets.Stream, func(), error) {
	var streams []datasets.Stream
	var closers []func()
	done := func() {
		for _, c := range closers {
			c()
		}
	}
	for _, file := range files {
		stream, closer, err := i.openFile(ctx, s, file, series, chosen)
		if err != nil {
			done()
			return nil, nil, err
		}
		streams, closers = append(streams, stream), append(closers, closer)
	}
	merged, err := datasets.NewMerge(files, streams)
	if err != nil {
		done()
		return nil, nil, err
	}
	return merged, done, nil
}
