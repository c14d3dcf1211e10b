//go:build !unix

package probes

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: what a command starts outlives it here.
func ownGroup(*exec.Cmd) {}

func killGroup(leader *os.Process) { _ = leader.Kill() }

func exitStatus(s *os.ProcessState) int { return s.ExitCode() }

// tail keeps nothing of what a command says.
type tail struct{}

func tailOf(*exec.Cmd) (*tail, error) { return &tail{}, nil }

func (*tail) started() {}

func (*tail) end() string { return "" }
