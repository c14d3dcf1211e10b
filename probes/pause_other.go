//go:build !linux

package probes

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func bindHostWatcher(pauseOptions) (watcher, error) {
	return unsupportedWatcher{"host", "lets no thread be kept on a CPU"}, nil
}

func bindProcessWatcher(pauseOptions) (watcher, error) {
	return unsupportedWatcher{"process", "tells no account of another process's waits"}, nil
}

func bindStealWatcher(pauseOptions) (watcher, error) {
	return unsupportedWatcher{"vm", "does not tell what its hypervisor took"}, nil
}

// unsupportedWatcher stands where this system does not tell what there is to watch.
type unsupportedWatcher struct{ of, missing string }

func (w unsupportedWatcher) open(context.Context, schedule) ([]datasets.Field, error) {
	return nil, fmt.Errorf("of=%s: %s %s; watch on Linux: %w", w.of, runtime.GOOS, w.missing, errors.ErrUnsupported)
}

func (unsupportedWatcher) columns() []string { return nil }
func (unsupportedWatcher) close()            {}

func (unsupportedWatcher) watch(context.Context, schedule, time.Time, chan<- datasets.Pause) ([]datasets.Field, error) {
	return nil, errors.ErrUnsupported
}
