package probes

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// kernelWays are those that wait in a system call.
func kernelWays() []timerWay {
	return []timerWay{
		{"nanosleep", "clock_nanosleep to a point in time, as the kernel puts it off (by 50 µs, usually)", false, openNanosleep},
		{"ppoll", "ppoll's timeout, put off by 1 ns, on a thread of its own", true, func() (waiter, error) { return pollWaiter{}, nil }},
		{"timerfd", "a timerfd that the Go runtime waits for by epoll", false, openTimerfd},
	}
}

func openNanosleep() (waiter, error) { return nanosleepWaiter{newKernelTimer()}, nil }

// nanosleepWaiter waits by clock_nanosleep.
type nanosleepWaiter struct{ kernelTimer }

func (nanosleepWaiter) begin(time.Time, time.Duration) {}
func (nanosleepWaiter) close()                         {}

// timerfdWaiter waits as the house does.
type timerfdWaiter struct{ *sleeper }

func openTimerfd() (waiter, error) {
	s := newSleeper()
	if s.file == nil {
		return nil, errors.New("timerfd_create: not allowed here")
	}
	return timerfdWaiter{s}, nil
}

func (timerfdWaiter) begin(time.Time, time.Duration) {}

// pollWaiter waits as the sender of single packets does.
type pollWaiter struct{}

func (pollWaiter) begin(time.Time, time.Duration) {}
func (pollWaiter) close()                         {}

func (pollWaiter) until(ctx context.Context, due time.Time) bool {
	for left := time.Until(due); left > 0; left = time.Until(due) {
		if ctx.Err() != nil {
			return false
		}
		timeout := unix.NsecToTimespec(int64(min(left, longestNap)))
		if _, err := unix.Ppoll(nil, &timeout, nil); err != nil && !errors.Is(err, unix.EINTR) {
			time.Sleep(min(left, longestNap))
		}
	}
	return true
}
