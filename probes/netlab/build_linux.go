package netlab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Build returns a command of facebook/time, such as "ptp4u", in the version of our
// go.mod. Its own dependencies are not ours, so it is built outside our module: once,
// and kept in the user's cache. It skips the test where that cannot be done.
func Build(tb testing.TB, command string) string {
	tb.Helper()
	const module = "github.com/facebook/time"
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		tb.Skipf("needs the go command to build facebook's %s: %v", command, err)
	}
	version := strings.TrimSpace(string(out))
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = tb.TempDir()
	}
	dir := filepath.Join(cache, "tickmark-tests", version)
	path := filepath.Join(dir, command)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	defer locked(tb, path+".lock")()
	if exists(path) {
		return path
	}
	made, err := os.MkdirTemp(dir, command) //nolint:usetesting // on the file system of the cache, so that the result can be renamed
	if err != nil {
		tb.Fatal(err)
	}
	defer os.RemoveAll(made)
	build := exec.Command("go", "install", module+"/cmd/"+command+"@"+version)
	build.Env = append(os.Environ(), "GOBIN="+made, "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Skipf("facebook's %s cannot be built here: %v: %.300s", command, err, out)
	}
	if err := os.Rename(filepath.Join(made, command), path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// locked waits until this process alone holds the lock of a file, since the tests of
// several packages run side by side, and returns what gives it back.
func locked(tb testing.TB, path string) (unlock func()) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	for err = unix.EINTR; err == unix.EINTR; { //nolint:errorlint // a bare errno
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		f.Close()
		tb.Fatal(err)
	}
	return func() { f.Close() }
}
