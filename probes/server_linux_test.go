package probes_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/probes/netlab"
)

// realServer is somebody else's server, on this host, until the test ends. It can be
// killed and started again.
type realServer struct {
	t       *testing.T
	command []string
	as      *syscall.Credential // nil: who runs the test
	up      func() bool         // does it answer?

	process *os.Process
	ended   chan struct{}
	output  bytes.Buffer // read only once it has ended
}

// serveReal starts a server and waits until it is up.
func serveReal(t *testing.T, as *syscall.Credential, up func() bool, command ...string) *realServer {
	t.Helper()
	command[0] = netlab.Need(t, command[0])
	s := &realServer{t: t, command: command, as: as, up: up}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("%s: %s", command[0], s.output.String())
		}
	})
	s.start()
	return s
}

func (s *realServer) start() {
	s.t.Helper()
	c := exec.Command(s.command[0], s.command[1:]...)
	c.Dir = "/"
	c.Stdout, c.Stderr = &s.output, &s.output
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: s.as}
	c.WaitDelay = time.Second
	started, ended := make(chan error), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // when its thread dies, so does the server
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait()
		}
	}()
	if err := <-started; err != nil {
		s.t.Fatal(err)
	}
	s.process, s.ended = c.Process, ended
	for limit := time.Now().Add(30 * time.Second); !s.up(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			s.t.Fatalf("%s: ended: %s", s.command[0], s.output.String())
		default:
		}
		if time.Now().After(limit) {
			s.t.Fatalf("%s: not up within 30 s", s.command[0])
		}
	}
}

// kill returns when the server is gone, its children too.
func (s *realServer) kill() {
	if s.process == nil {
		return
	}
	_ = unix.Kill(-s.process.Pid, unix.SIGKILL)
	<-s.ended
	s.process = nil
}

// freePort returns a port on which nobody listens, on both IPs' loopback, for TCP and UDP.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// accepts reports whether somebody accepts connections.
func accepts(addr string) func() bool {
	return func() bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	}
}
