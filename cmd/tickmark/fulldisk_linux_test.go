package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/serve"
)

// A disk of 1 MB that becomes full ends a recording with one clear line, exit 1, and all
// that was counted as kept is there to be read.
func TestFullDiskKeepsWhatIsThere(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a disk of 1 MB in a mount namespace of its own")
	}
	server, err := serve.Start(serve.Config{UDP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.trace")
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, options := range map[string]string{"each row written": "--interval 100us", "rows written together": "--interval 20us"} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			// The mount goes with the shell, so what is on the disk is copied from it before.
			script := fmt.Sprintf(`mount -t tmpfs -o size=1m none %[1]s || exit 99
				%[2]s probe udp %[3]s --duration 1m -o %[1]s/x.trace %[4]s; code=$?; cp %[1]s/x.trace %[5]s; exit $code`,
				disk, tickmarkCommand(t), options, server.UDPAddr(), kept)
			cmd := exec.Command("unshare", "--mount", "sh", "-c", script)
			cmd.Stderr = &stderr
			_ = cmd.Run()
			switch code := cmd.ProcessState.ExitCode(); code {
			case 99:
				t.Skipf("no disk of 1 MB can be mounted here: %s", stderr.String())
			case 1:
			default:
				t.Errorf("exit %d, want 1", code)
			}
			said := regexp.MustCompile(`^tickmark: \S+/x\.trace: no space left on device \(([0-9,]+) samples kept in \S+\)\n$`).FindStringSubmatch(stderr.String())
			if said == nil {
				t.Fatalf("stderr %q", stderr.String())
			}
			claimed, _ := strconv.Atoi(string(bytes.ReplaceAll([]byte(said[1]), []byte(","), nil)))
			data, err := os.ReadFile(kept)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := datasets.Open(kept, bytes.NewReader(data), nil)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := analysis.Summarise(kept, rows)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d claimed to be kept, %d read", claimed, sum.Trips.Samples)
			if sum.Trips.Samples < int64(claimed) || claimed < 1000 {
				t.Errorf("%d samples are said to be kept, %d can be read", claimed, sum.Trips.Samples)
			}
		})
	}
}
