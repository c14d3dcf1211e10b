package daemon

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// monotonicCoarse reads the clock that ClockBound dates its bound by.
func monotonicCoarse() (time.Duration, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &t); err != nil {
		return 0, fmt.Errorf("clock_gettime: %w", err)
	}
	return time.Duration(t.Nano()), nil
}
