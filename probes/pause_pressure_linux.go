package probes

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/cgroup"
)

// pressures are the kernel's stall totals (PSI) of the nearest control group that has
// them, or else of the host. The kernel brings them up to date every 2 s: they say how
// much was lost in all, not when.
type pressures struct {
	of     string
	paths  map[string]string
	before map[string]time.Duration
}

func pressureKinds() []string { return []string{"cpu", "io", "memory"} }

func (p *pressures) open(dirs []string) {
	for _, dir := range append(dirs, "/proc") {
		p.of, p.paths, p.before = dir, map[string]string{}, map[string]time.Duration{}
		pattern := "*.pressure"
		if dir == "/proc" {
			p.of, pattern = "host", "pressure/*"
		}
		paths, err := filepath.Glob(dir + "/" + pattern)
		if err != nil {
			continue
		}
		for _, path := range paths {
			kind := strings.TrimSuffix(filepath.Base(path), ".pressure")
			if total, ok := stalled(path); ok {
				p.paths[kind], p.before[kind] = path, total
			}
		}
		if len(p.paths) > 0 {
			return
		}
	}
}

// stalled returns for how long some thread was held up.
func stalled(path string) (time.Duration, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	return parsePressure(string(text))
}

// parsePressure reads the total of the first line, in µs:
// some avg10=0.00 avg60=0.00 avg300=0.00 total=12345.
func parsePressure(text string) (time.Duration, bool) {
	line, _, _ := strings.Cut(text, "\n")
	_, total, found := strings.Cut(line, " total=")
	us, err := strconv.ParseInt(total, 10, 64)
	return cgroup.Micros(us), found && err == nil && us >= 0 && strings.HasPrefix(line, "some ")
}

// fields say for how long something was held up by want of each since open.
func (p *pressures) fields() []datasets.Field {
	var fields []datasets.Field
	for _, kind := range pressureKinds() {
		before, known := p.before[kind]
		if total, ok := stalled(p.paths[kind]); known && ok {
			fields = append(fields, duration("pressure-"+kind, total-before))
		}
	}
	if fields != nil {
		fields = append(fields, datasets.Field{Key: "pressure-of", Value: p.of})
	}
	return fields
}
