package main

import "syscall"

// hostKernel and hostCPU are what a self-test holds for: another kernel or processor
// needs another one.
func hostKernel() string { return sysctl("kern.osrelease") }

func hostCPU() string { return sysctl("machdep.cpu.brand_string") }

func sysctl(name string) string {
	value, err := syscall.Sysctl(name)
	if err != nil {
		return ""
	}
	return value
}
