//go:build !linux

package probes

import "time"

// nap sleeps for d.
func nap(d time.Duration) { time.Sleep(d) }
