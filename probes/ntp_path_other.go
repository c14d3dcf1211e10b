//go:build !linux

package probes

import (
	"context"
	"net"
	"syscall"

	"github.com/tickmark/tickmark/datasets"
)

// holdPort does nothing: the port is free between two queries.
func (p *ntpPath) holdPort(context.Context, *net.UDPConn) {}

func sharePort(string, string, syscall.RawConn) error { return nil }

// arrivalSource is User, also on macOS, where the library takes the kernel's stamp
// when it finds one, in microseconds, and does not say so.
func arrivalSource(*net.UDPConn) datasets.Source { return datasets.User }
