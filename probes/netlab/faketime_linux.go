package netlab

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// Faketime returns the namespace with a clock that libfaketime shifts for each command
// that is linked to libc; what the kernel stamps is not shifted. So a chronyd there
// sends a shifted T3 and a true T2, which makes the delay wrong, and even negative.
func Faketime(tb testing.TB, n Namespace, by time.Duration) Namespace {
	tb.Helper()
	patterns := []string{"/usr/lib/*/faketime/libfaketime.so.1"}
	for _, dir := range unpacked() {
		patterns = append(patterns, filepath.Join(dir, "../lib/*/faketime/libfaketime.so.1"))
	}
	for _, pattern := range patterns {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return n.With("LD_PRELOAD="+found[0], fmt.Sprintf("FAKETIME=%+f", by.Seconds()), "FAKETIME_DONT_RESET=1")
		}
	}
	tb.Skip("needs the library libfaketime, which is not there")
	return n
}
