//go:build !linux

package nic

import (
	"errors"
	"net/netip"
)

func routed(netip.Addr) (string, error) { return "", errors.ErrUnsupported }
