package main

import (
	"runtime"
	"testing"
)

// The lines are those of the kernel: arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c.
func TestCPUModel(t *testing.T) {
	for name, c := range map[string]struct{ cpuinfo, want string }{
		"x86":     {"processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) Processor\n\nprocessor\t: 1\nmodel name\t: other\n", "Intel(R) Xeon(R) Processor"},
		"arm64":   {"processor\t: 0\nBogoMIPS\t: 48.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU part\t: 0xd05\n", runtime.GOARCH + " 0x41 0xd0c"},
		"neither": {"processor\t: 0\n", runtime.GOARCH},
		"nothing": {"", runtime.GOARCH},
	} {
		if got := cpuModel(c.cpuinfo); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
