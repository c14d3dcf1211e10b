package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// lastsFor is how long a self-test is believed: kernels and loads change.
const lastsFor = 7 * 24 * time.Hour

// stateFile is what selftest leaves for later measurements.
type stateFile struct {
	SelfTests []keptTest `json:"self_tests"`
}

// keptTest is a result and what it holds for: this kernel, processor, interface and
// way to take stamps.
type keptTest struct {
	Mode   string        `json:"mode"`
	Kernel string        `json:"kernel"`
	CPU    string        `json:"cpu"`
	NIC    string        `json:"nic"`
	At     time.Time     `json:"at"`
	Bias   time.Duration `json:"bias_ns"`
	Says   string        `json:"says"`
}

// stateDir is where a user's programs keep what is no configuration and no cache.
func stateDir() (string, error) {
	if dir := os.Getenv("TICKMARK_STATE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tickmark"), nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, err := os.UserConfigDir()
		return filepath.Join(dir, "tickmark", "state"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state", "tickmark"), err
}

func statePath() (string, error) {
	dir, err := stateDir()
	return filepath.Join(dir, "selftest.json"), err
}

// readState returns what was kept; nothing is no error.
func readState() (*stateFile, error) {
	path, err := statePath()
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &stateFile{}, nil
	}
	if err != nil {
		return nil, plainPathError(err)
	}
	s := &stateFile{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: cannot be read (%w): tickmark selftest writes it anew", path, err)
	}
	return s, nil
}

// keepSelfTests replaces what was kept of the same modes here. What cannot be read is
// replaced as a whole.
func keepSelfTests(now time.Time, tests ...*selfTest) error {
	path, err := statePath()
	if err != nil {
		return err
	}
	kept, err := readState()
	if err != nil {
		kept = &stateFile{}
	}
	s := &stateFile{}
	for _, t := range tests {
		if bias, ok := t.bias.Value.Value(); ok {
			k := hostNow()
			k.Mode, k.At, k.Bias, k.Says = t.mode, now.UTC(), nanoseconds(bias), t.sentence()
			s.SelfTests = append(s.SelfTests, k)
		}
	}
	for _, old := range kept.SelfTests {
		if now.Sub(old.At) < lastsFor && !s.has(old) {
			s.SelfTests = append(s.SelfTests, old)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return plainPathError(err)
	}
	return replaceFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	})
}

// has reports whether there is a result for the same.
func (s *stateFile) has(k keptTest) bool {
	for _, t := range s.SelfTests {
		if t.same(k) {
			return true
		}
	}
	return false
}

func (k keptTest) same(other keptTest) bool {
	return k.Mode == other.Mode && k.Kernel == other.Kernel && k.CPU == other.CPU && k.NIC == other.NIC
}

// knownTest returns the self-test of a mode that is still believed here, if there is one.
func knownTest(now time.Time, mode string) (k keptTest, known bool, err error) {
	s, err := readState()
	if err != nil {
		return k, false, err
	}
	want := hostNow()
	want.Mode = mode
	for _, t := range s.SelfTests {
		if age := now.Sub(t.At); t.same(want) && age >= 0 && age < lastsFor {
			return t, true, nil
		}
	}
	return k, false, nil
}

// hostNow is what a result holds for, but for its mode.
func hostNow() keptTest {
	return keptTest{Kernel: strings.TrimSpace(readFile("/proc/sys/kernel/osrelease")), CPU: cpuModel(readFile("/proc/cpuinfo")), NIC: "lo"}
}

func readFile(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// cpuModel is the first model that /proc/cpuinfo names.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// modeOf is the way in which the probe of a canonical spec takes stamps; "" is one that
// no self-test covers.
func modeOf(canonical string) string {
	name, options, _ := strings.Cut(canonical, ":")
	has := func(o string) bool { return strings.Contains(","+options+",", ","+o+",") }
	switch {
	case name != "ntp" && name != "ptp" || has("stamps=hardware") || has("mode=listen") || has("engine=portable"):
		return ""
	case has("stamps=user"):
		return modeUser
	case name == "ptp" || has("mode=interleaved"):
		return modeInterleaved
	case has("stamps=kernel"):
		return modeKernel
	}
	return modeBasic
}

// selfTestFacts are what headers say of the instrument that the spec describes, from a
// self-test of late, and a doubt if there may be one that cannot be read.
func selfTestFacts(now time.Time, canonical string) (facts []datasets.Field, doubt string) {
	mode := modeOf(canonical)
	if mode == "" {
		return nil, ""
	}
	k, known, err := knownTest(now, mode)
	if err != nil {
		return nil, err.Error()
	}
	if !known {
		return nil, ""
	}
	says := fmt.Sprintf("%s, mode %s, %s", k.Says, mode, ago(now.Sub(k.At)))
	return []datasets.Field{{Key: "self-test", Value: says}, {Key: datasets.KeySelfBias, Value: k.Bias.String()}}, ""
}

// doctorSelfTest says in a sentence what is known of this host's default way.
func doctorSelfTest() (found string, known bool, err error) {
	k, known, err := knownTest(time.Now(), modeBasic)
	if !known || err != nil {
		return "", false, err
	}
	return k.Says + ", " + ago(time.Since(k.At)), true, nil
}

// ago says how old something is, to the minute or hour.
func ago(age time.Duration) string {
	switch {
	case age < time.Minute:
		return "less than a minute ago"
	case age < 2*time.Hour:
		return fmt.Sprintf("%d min ago", age/time.Minute)
	case age < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", age/time.Hour)
	}
	return fmt.Sprintf("%d days ago", age/(24*time.Hour))
}
