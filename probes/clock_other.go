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

type clockReader struct{ epoch time.Time }

func newClockReader() (*clockReader, error) {
	return nil, fmt.Errorf("clock: %s has no CLOCK_MONOTONIC_RAW beside CLOCK_BOOTTIME; measure on Linux: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (*clockReader) fineness() (step, cost time.Duration)            { return 0, 0 }
func (*clockReader) resolutions() []datasets.Field                   { return nil }
func (*clockReader) watch(context.Context, schedule, Recorder) error { return errors.ErrUnsupported }
