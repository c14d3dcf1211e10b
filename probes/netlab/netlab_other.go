//go:build !linux

package netlab

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
)

// Pair is two network namespaces with a veth between them.
type Pair struct {
	Server, Client Namespace
}

// Namespace is one end of a pair.
type Namespace struct {
	Name, Interface string
	Addr            netip.Addr
}

// New skips the test.
func New(tb testing.TB) *Pair {
	tb.Helper()
	tb.Skip("network namespaces need Linux")
	return nil
}

// Need skips the test.
func Need(tb testing.TB, command string) string {
	tb.Helper()
	tb.Skipf("needs the command %s on Linux", command)
	return ""
}

// Do is never reached.
func (Namespace) Do(func() error) error {
	return fmt.Errorf("network namespaces: %w", errors.ErrUnsupported)
}

// Start skips the test.
func (Namespace) Start(tb testing.TB, _ string, _ ...string) <-chan struct{} {
	tb.Helper()
	tb.Skip("network namespaces need Linux")
	return nil
}
