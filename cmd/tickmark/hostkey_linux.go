package main

import (
	"os"
	"runtime"
	"strings"
)

// hostKernel and hostCPU are what a self-test holds for: another kernel or processor
// needs another one.
func hostKernel() string { return strings.TrimSpace(readFile("/proc/sys/kernel/osrelease")) }

func hostCPU() string { return cpuModel(readFile("/proc/cpuinfo")) }

func readFile(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// cpuModel is the model that /proc/cpuinfo names first: in words, or as arm64 does it by
// the numbers of its maker and part.
func cpuModel(cpuinfo string) string {
	first := map[string]string{}
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); first[key] == "" {
			first[key] = strings.TrimSpace(value)
		}
	}
	if model := first["model name"]; model != "" {
		return model
	}
	if part := first["CPU part"]; part != "" {
		return runtime.GOARCH + " " + first["CPU implementer"] + " " + part
	}
	return runtime.GOARCH
}
