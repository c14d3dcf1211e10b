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
	"time"
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
	s, err := parseState(b)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read (%w): tickmark selftest writes it anew", path, err)
	}
	return s, nil
}

// parseState reads what keepSelfTests wrote. A bias goes into later bounds, so one that
// cannot be an instrument's is taken for a file that is broken.
func parseState(b []byte) (*stateFile, error) {
	s := &stateFile{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, err
	}
	for _, t := range s.SelfTests {
		if t.Mode == "" || t.At.IsZero() || t.Bias <= -time.Second || t.Bias >= time.Second {
			return nil, fmt.Errorf("mode %q, at %s, bias %s is no self-test", t.Mode, t.At.Format(time.RFC3339), t.Bias)
		}
	}
	return s, nil
}

// keepSelfTests replaces what was kept of the same modes here. What cannot be read is
// replaced as a whole.
func keepSelfTests(now time.Time, tests ...*selfTest) error {
	kept, err := readState()
	if err != nil {
		kept = &stateFile{}
	}
	s := &stateFile{}
	for _, t := range tests {
		if bias, ok := t.bias.Value.Value(); ok {
			k := hostNow()
			k.Mode, k.At, k.Bias, k.Says = t.mode.name, now.UTC(), nanoseconds(bias), t.sentence()
			s.SelfTests = append(s.SelfTests, k)
		}
	}
	for _, old := range kept.SelfTests {
		if old.believed(now) && !s.has(old) {
			s.SelfTests = append(s.SelfTests, old)
		}
	}
	return writeState(s)
}

// writeState replaces the file when the new one is whole.
func writeState(s *stateFile) error {
	path, err := statePath()
	if err != nil {
		return err
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

// believed reports whether a result is of the last week. One of the future was made
// before the clock was set back, nobody knows when.
func (k keptTest) believed(now time.Time) bool {
	age := now.Sub(k.At)
	return age >= 0 && age < lastsFor
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
		if t.same(want) && t.believed(now) {
			return t, true, nil
		}
	}
	return k, false, nil
}

// hostNow is what a result holds for, but for its mode.
func hostNow() keptTest {
	return keptTest{Kernel: hostKernel(), CPU: hostCPU(), NIC: "lo"}
}
