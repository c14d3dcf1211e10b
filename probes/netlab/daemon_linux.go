package netlab

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Daemon is a real server that runs until its test ends.
type Daemon struct {
	Dir    string          // its own folder, short enough for a socket's path
	Socket string          // where it takes commands; "" if nowhere
	Ended  <-chan struct{} // closed should it end before the test
}

// newDaemon makes the folder, which daemons that care want closed to others.
func newDaemon(tb testing.TB) *Daemon {
	tb.Helper()
	dir, err := os.MkdirTemp("", "tm") //nolint:usetesting // a socket's path must be shorter than that of tb.TempDir
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o750); err != nil {
		tb.Fatal(err)
	}
	return &Daemon{Dir: dir}
}

// write puts a file into the daemon's folder and returns its path.
func (d *Daemon) write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(d.Dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// Await returns when up is true; it fails the test if the daemon ends or that takes
// more than half a minute.
func (d *Daemon) Await(tb testing.TB, what string, up func() bool) {
	tb.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for !up() {
		select {
		case <-d.Ended:
			tb.Fatalf("%s: the server ended", what)
		case <-limit:
			tb.Fatalf("%s: not within 30 s", what)
		case <-tick.C:
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
