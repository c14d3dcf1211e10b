package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// hostKernel and hostCPU are what a self-test holds for: another kernel or processor
// needs another one.
func hostKernel() string {
	v := windows.RtlGetVersion()
	return fmt.Sprintf("%d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber)
}

func hostCPU() string { return os.Getenv("PROCESSOR_IDENTIFIER") }
