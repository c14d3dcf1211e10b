package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// execute measures how long a command takes, from its start to its end: the probe for
// what has no other. The command line stands in the header, as every target.
type execute struct{ callProbe }

// usualPatience is how long a command is waited for before it is killed.
const usualPatience = 10 * time.Second

func bindExec(fs *flag.FlagSet) func() (Probe, error) {
	calls := bindCalls(fs)
	return func() (Probe, error) {
		c, err := calls()
		c.protocol, c.interval = "exec", time.Second
		return execute{c}, err
	}
}

// Kind returns RTT.
func (execute) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is the command with its arguments, in quotes where a
// shell wants them. There is no shell: $ and * are what they are.
func (execute) TakesTarget() bool { return true }

// Run starts the command as the plan's schedule says, every second by default, waits 10 s
// for its end and then kills it, with every process of its group.
func (p execute) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	words, err := splitWords(target)
	if err != nil {
		return &spec.UsageError{Msg: fmt.Sprintf("target %q: %v", target, err)}
	}
	if _, asked := plan.Listen.Value(); !asked {
		deadline, _ := plan.Deadline.Value()
		plan.Listen = datasets.Some(max(usualPatience, deadline))
	}
	p.open = func() (caller, error) { return execCaller(words), nil }
	return p.run(ctx, target, "", plan, rec)
}

// execCaller is a command and its arguments.
type execCaller []string

func (e execCaller) call(ctx context.Context, c *called) {
	cmd := exec.Command(e[0], e[1:]...)
	ownGroup(cmd)
	tail, err := tailOf(cmd)
	if err == nil {
		c.sent = time.Now()
		err = cmd.Start()
		tail.started()
	}
	if err != nil {
		c.fail(err)
		c.outcome = datasets.LostLocal // whatever hindered it, it was here
		tail.end()
		return
	}
	var killed atomic.Bool
	stop := context.AfterFunc(ctx, func() {
		killed.Store(true)
		killGroup(cmd.Process)
	})
	err = cmd.Wait()
	c.answered = time.Now()
	stop()
	said := tail.end()
	var ended *exec.ExitError
	switch {
	case killed.Load():
		c.outcome, c.why = datasets.TimedOut, "killed"
	case err == nil, errors.As(err, &ended):
		c.status = datasets.Some(exitStatus(cmd.ProcessState))
		if err != nil {
			c.why = said
		}
	default:
		c.fail(err)
		c.outcome = datasets.LostLocal
	}
}

func (execCaller) close() error { return nil }
