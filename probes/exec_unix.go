//go:build unix

package probes

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// ownGroup has a command lead a group of its own, so that what it starts dies with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// exitStatus is the command's own, or as in a shell 128 and the signal that ended it.
func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// tail keeps the end of what a command writes to its standard error.
type tail struct {
	read, write *os.File
	done        chan struct{}
	last        []byte
}

const (
	longestTail = 1024
	// lastWords is how long a pipe is read on when its command has ended and what it
	// started has not.
	lastWords = 20 * time.Millisecond
)

// tailOf lets a command that is about to start write to a tail.
func tailOf(cmd *exec.Cmd) (*tail, error) {
	t := &tail{done: make(chan struct{})}
	var err error
	if t.read, t.write, err = os.Pipe(); err != nil {
		return nil, err
	}
	cmd.Stderr = t.write
	go t.follow()
	return t, nil
}

func (t *tail) follow() {
	defer close(t.done)
	for b := make([]byte, longestTail); ; {
		n, err := t.read.Read(b)
		t.last = append(t.last, b[:n]...)
		t.last = t.last[max(0, len(t.last)-longestTail):]
		if err != nil {
			return
		}
	}
}

// started leaves the writing to the command.
func (t *tail) started() { t.write.Close() }

// end returns the last line that is not empty.
func (t *tail) end() string {
	if t == nil {
		return ""
	}
	_ = t.read.SetReadDeadline(time.Now().Add(lastWords))
	<-t.done
	t.read.Close()
	text := strings.TrimRight(string(t.last), "\r\n \t")
	return strings.ToValidUTF8(text[strings.LastIndexAny(text, "\r\n")+1:], "�")
}
