package probes

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap sleeps for d, or less if a signal comes. The kernel wakes a sleeping thread
// sooner, and far more evenly, than the runtime wakes a goroutine.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}
