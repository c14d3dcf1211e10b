package daemon

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// readTimex reads the state of CLOCK_REALTIME. Modes is 0: nothing is set, which needs
// no permission.
func readTimex() (*timex, error) {
	var t unix.Timex
	state, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &t)
	if err != nil {
		return nil, fmt.Errorf("clock_adjtime: %w", err)
	}
	return &timex{
		offset: int64(t.Offset), freq: int64(t.Freq), maxerror: int64(t.Maxerror), esterror: int64(t.Esterror),
		status: t.Status, constant: int64(t.Constant), precision: int64(t.Precision), tolerance: int64(t.Tolerance),
		tick: int64(t.Tick), tai: int64(t.Tai), state: state,
	}, nil
}
