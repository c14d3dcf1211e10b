//go:build !unix

package probes

import "time"

// cpuTime is not known here, hence false.
func cpuTime() (time.Duration, bool) { return 0, false }
