package stamp

import "github.com/tickmark/tickmark/datasets"

// Frame is what a [Tap] saw pass.
type Frame struct {
	N       int            // bytes of it in the buffer
	At      datasets.Stamp // by the kernel, absent if it did not say
	Dropped uint32         // frames that nobody had the time to read, so far
}
