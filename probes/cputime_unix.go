//go:build unix

package probes

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns how long the threads of this process have run, all together, and
// false if the system does not say.
func cpuTime() (time.Duration, bool) {
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err == nil
}
