package probes

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tickmark/tickmark/datasets"
)

// hostFacts returns what a reader must know of this host to judge a trace made on
// it. What the host does not tell is left out.
func hostFacts() []datasets.Field {
	facts := []datasets.Field{
		{Key: "host", Value: hashedHost()},
		{Key: "os", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "kernel", Value: firstLine("/proc/sys/kernel/osrelease")},
		{Key: "clocksource", Value: firstLine("/sys/devices/system/clocksource/clocksource0/current_clocksource")},
		{Key: "governor", Value: governors("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")},
		{Key: "cpus", Value: strconv.Itoa(runtime.NumCPU())},
		{Key: "gomaxprocs", Value: strconv.Itoa(runtime.GOMAXPROCS(0))},
		{Key: "go", Value: runtime.Version()},
	}
	return slices.DeleteFunc(facts, func(f datasets.Field) bool { return f.Value == "" })
}

// hashedHost returns the first 8 hex digits of the SHA-256 of the host's name:
// traces of one host can be told to be of one host without naming it.
func hashedHost() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

func firstLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// governors returns the CPU frequency governors in use, each once.
func governors(pattern string) string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return ""
	}
	var names []string
	for _, p := range paths {
		if name := firstLine(p); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}
