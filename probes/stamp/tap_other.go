//go:build !linux

package stamp

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// Tap is what a system without packet sockets has: none.
type Tap struct{}

// OpenTap returns errors.ErrUnsupported.
func OpenTap(iface string) (*Tap, error) {
	return nil, fmt.Errorf("interface %q: watching it on %s: %w (a capture file can be read everywhere)", iface, runtime.GOOS, errors.ErrUnsupported)
}

// Read returns errors.ErrUnsupported.
func (*Tap) Read([]byte) (Frame, error) { return Frame{}, errors.ErrUnsupported }

// SetReadDeadline returns errors.ErrUnsupported.
func (*Tap) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

// Close does nothing.
func (*Tap) Close() error { return nil }
