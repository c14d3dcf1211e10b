//go:build !linux

package nic

import (
	"errors"
	"fmt"
	"runtime"
)

// Inspect is for Linux only.
func Inspect(iface string) (Abilities, error) {
	return Abilities{Interface: iface}, unsupported(iface)
}

type system struct{}

func (system) read(iface string) (Config, error) { return Config{}, unsupported(iface) }

func (system) write(iface string, _ Config) (Config, error) { return Config{}, unsupported(iface) }

func unsupported(iface string) error {
	return fmt.Errorf("nic %q: time stamping on %s: %w", iface, runtime.GOOS, errors.ErrUnsupported)
}
