package netlab

import (
	"crypto/rand"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Pair is two network namespaces with a veth between them.
type Pair struct {
	Server, Client Namespace
}

// Namespace is one end of a pair: its name for `ip netns exec`, the interface of
// the cable and the address on it.
type Namespace struct {
	Name, Interface string
	Addr            netip.Addr
	env             []string
}

// With returns the namespace whose commands have more in their environment.
func (n Namespace) With(env ...string) Namespace {
	n.env = append(slices.Clone(n.env), env...)
	return n
}

// New lays the cable and removes it when the test ends.
func New(tb testing.TB) *Pair {
	tb.Helper()
	ip := Need(tb, "ip")
	if os.Geteuid() != 0 {
		tb.Skip("network namespaces need root")
	}
	unique := "tm-" + strings.ToLower(rand.Text()[:8])
	p := &Pair{
		Server: Namespace{Name: unique + "s", Interface: "vs", Addr: netip.MustParseAddr("10.77.0.1")},
		Client: Namespace{Name: unique + "c", Interface: "vc", Addr: netip.MustParseAddr("10.77.0.2")},
	}
	for _, n := range []Namespace{p.Server, p.Client} {
		if out, err := exec.Command(ip, "netns", "add", n.Name).CombinedOutput(); err != nil {
			tb.Skipf("this kernel or container gives no network namespace: %s", firstLine(out))
		}
		tb.Cleanup(func() { _ = exec.Command(ip, "netns", "del", n.Name).Run() })
	}
	for _, line := range []string{
		"link add vs netns SERVER type veth peer name vc netns CLIENT",
		"-n SERVER addr add 10.77.0.1/24 dev vs", "-n CLIENT addr add 10.77.0.2/24 dev vc",
		"-n SERVER link set lo up", "-n CLIENT link set lo up",
		"-n SERVER link set vs up", "-n CLIENT link set vc up",
	} {
		line = strings.NewReplacer("SERVER", p.Server.Name, "CLIENT", p.Client.Name).Replace(line)
		if out, err := exec.Command(ip, strings.Fields(line)...).CombinedOutput(); err != nil {
			tb.Skipf("ip %s: %s", line, firstLine(out))
		}
	}
	return p
}

// Need returns the path of a command, or skips the test with its name. Servers
// live in sbin, which is not in every PATH.
func Need(tb testing.TB, command string) string {
	tb.Helper()
	if path, err := exec.LookPath(command); err == nil {
		return path
	}
	for _, dir := range append(unpacked(), "/usr/sbin", "/sbin", "/usr/local/sbin") {
		if path, err := exec.LookPath(filepath.Join(dir, command)); err == nil {
			return path
		}
	}
	tb.Skipf("needs the command %s, which is not there", command)
	return ""
}

// unpacked is where `make need` puts servers that must not be installed.
func unpacked() []string {
	dir, err := os.Getwd()
	for err == nil && dir != "/" {
		if tools := filepath.Join(dir, "bin/tools/usr"); exists(tools) {
			return []string{filepath.Join(tools, "sbin"), filepath.Join(tools, "bin")}
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// Do runs f with every socket that its own goroutine makes inside the namespace;
// goroutines that f starts stay outside. f must not end the test (tb.Fatal).
func (n Namespace) Do(f func() error) error {
	done := make(chan error)
	go func() {
		// A thread that changed its namespace is never reused: without the unlock it
		// dies with the goroutine.
		runtime.LockOSThread()
		done <- n.enter(f)
	}()
	return <-done
}

func (n Namespace) enter(f func() error) error {
	space, err := os.Open(filepath.Join("/run/netns", n.Name))
	if err != nil {
		return err
	}
	defer space.Close()
	if err := unix.Setns(int(space.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering namespace %s: %w", n.Name, err)
	}
	return f()
}

func firstLine(b []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
