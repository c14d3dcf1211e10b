package probes

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns how long the threads of this process have run, all together.
func cpuTime() (time.Duration, bool) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err == nil
}
