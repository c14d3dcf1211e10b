package main

import (
	"os"
	"runtime"
)

// spareProcessors is how many goroutines may wait in the kernel, as the sockets of
// probes/stamp do, without keeping from the others what they run on.
const spareProcessors = 6

// addProcessors lets more goroutines run than there are CPUs, unless the user has said
// how many. What waits in the kernel needs none, but gives its own up only some
// microseconds to milliseconds later.
func addProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareProcessors)
	}
}
