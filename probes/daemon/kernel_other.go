//go:build !linux

package daemon

import (
	"errors"
	"fmt"
)

func readTimex() (*timex, error) {
	return nil, fmt.Errorf("adjtimex: %w on this system", errors.ErrUnsupported)
}
