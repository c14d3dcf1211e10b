//go:build !linux

package probes

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// sleeper sleeps as the runtime does.
type sleeper struct{}

func newSleeper() *sleeper { return &sleeper{} }

func (*sleeper) nap(d time.Duration) { time.Sleep(d) }
func (*sleeper) close()              {}

// timerName says what a sleeper sleeps by.
func timerName() string { return "sleep" }

// pollTimerFact is the timer of who waits for packets and points in time together: the
// deadlines of the runtime's poller.
func pollTimerFact() datasets.Field { return datasets.Field{Key: "timer", Value: "deadline"} }
