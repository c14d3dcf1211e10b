//go:build !linux

package stamp

import (
	"errors"
	"fmt"
)

// TellTTL is not possible here.
func (c *Conn) TellTTL() error { return fmt.Errorf("TTL of arrivals: %w", errors.ErrUnsupported) }

// SetTTL is not possible here.
func (c *Conn) SetTTL(uint8) error { return fmt.Errorf("TTL of packets: %w", errors.ErrUnsupported) }
