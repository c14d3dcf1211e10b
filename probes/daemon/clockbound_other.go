//go:build !linux

package daemon

import (
	"errors"
	"fmt"
	"time"
)

func monotonicCoarse() (time.Duration, error) {
	return 0, fmt.Errorf("clockbound: %w on this system", errors.ErrUnsupported)
}
