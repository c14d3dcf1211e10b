//go:build !linux

package probes

import "time"

// sleeper sleeps as the runtime does.
type sleeper struct{}

func newSleeper() *sleeper { return &sleeper{} }

func (*sleeper) nap(d time.Duration) { time.Sleep(d) }
func (*sleeper) close()              {}

// timerName says what a sleeper sleeps by.
func timerName() string { return "sleep" }
