//go:build unix

package probes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/netlab"
)

func TestExec(t *testing.T) {
	netlab.Need(t, "sh")
	for command, want := range map[string]struct {
		outcome datasets.Outcome
		status  int // −1: none
		why     string
	}{
		"true":                                      {datasets.Replied, 0, "-"},
		"sh -c 'echo x; echo y >&2'":                {datasets.Replied, 0, "-"},
		"sh -c 'echo a\tb >&2; exit 3'":             {datasets.Replied, 3, "a b"},
		"sh -c 'echo a >&2; kill -9 $$'":            {datasets.Replied, 137, "a"},
		"sh -c 'sleep 3 & exit 4'":                  {datasets.Replied, 4, "-"}, // which holds the pipe of our stderr
		"sh -c 'yes | head -c 1000000 >&2; exit 1'": {datasets.Replied, 1, "y"},
		"/nowhere/at/all -x":                        {datasets.LostLocal, -1, "no such file"},
		"/dev/null":                                 {datasets.LostLocal, -1, "permission denied"},
	} {
		tr := measure[datasets.Sample](t, "exec", command, every(20*time.Millisecond, 3))
		wantSamples(t, tr, 3)
		for i, s := range tr.rows {
			status, ok := s.Status.Value()
			if s.Outcome != want.outcome || ok != (want.status >= 0) || ok && status != want.status || !strings.Contains(cell(t, tr, i, "why"), want.why) {
				t.Errorf("%s: %s, status %d, why %q", command, s.Outcome, status, cell(t, tr, i, "why"))
			}
		}
	}
}

// A command that takes too long is killed, and with it what it started: nobody is left to
// write into the file.
func TestExecKillsTheGroup(t *testing.T) {
	dir := t.TempDir()
	command := "sh -c 'for i in 1 2 3; do (while :; do echo x >>" + dir + "/$$; sleep 0.01; done) & done; wait'"
	tr := measure[datasets.Sample](t, "exec", command, listening(probes.Plan{Interval: 50 * time.Millisecond, Count: 3}, 2*time.Second))
	wantSamples(t, tr, 3)
	if got := outcomes(tr); got != "3 timed-out" {
		t.Fatal(got)
	}
	size := func() (n int64) {
		files, _ := filepath.Glob(dir + "/*")
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	before := size()
	time.Sleep(200 * time.Millisecond)
	if after := size(); before == 0 || after != before {
		t.Errorf("%d bytes were written, then %d: somebody lives", before, after)
	}
}

func TestExecRefusesWhatIsNoCommand(t *testing.T) {
	for _, command := range []string{"''", "echo 'a"} {
		rec := &recording{}
		err := parse(t, "exec").Run(t.Context(), command, probes.Plan{Count: 1}, rec)
		if wrong := new(spec.UsageError); !errors.As(err, &wrong) || rec.writer != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}
