//go:build !linux

package probes

import (
	"errors"
	"fmt"
	"runtime"
)

func openPHC(target, _ string, _ int) (*phcClock, error) {
	return nil, fmt.Errorf("%s: hardware clocks on %s: %w", target, runtime.GOOS, errors.ErrUnsupported)
}

func phcWays() []phcWay { return []phcWay{{name: "precise"}, {name: "extended"}, {name: "basic"}} }
