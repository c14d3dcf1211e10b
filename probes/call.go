package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// caller makes calls of one protocol, one after another, over whatever it keeps open
// between them. Calls in flight together have a caller each.
type caller interface {
	// call makes one call and writes down what came of it. It gives up when ctx is done,
	// which is when nobody listens any longer.
	call(ctx context.Context, c *called)
	// close lets go of what is kept open.
	close() error
}

// called is what one call came to. A caller leaves the rest as it finds it: replied,
// from the moment it was called to the moment it returned.
type called struct {
	outcome  datasets.Outcome // not Late: that is for the deadline to say
	sent     time.Time        // when the call began: the caller may have to prepare it first
	answered time.Time        // when the answer was whole, if not just before the return
	status   datasets.Optional[int]
	size     int    // bytes sent, without headers of lower layers
	cells    []byte // of the columns of its own, tab-separated; to be appended to
	why      string // what an invalid or refused call met, in words
}

// fail notes why a call has no answer. What the network or the other side did is an
// outcome; what this host could not do is lost-local.
func (c *called) fail(err error) {
	c.outcome, c.why = failure(err), err.Error()
}

// failure is the outcome of a call that ended with err.
func failure(err error) datasets.Outcome {
	var timeout net.Error
	var name *net.DNSError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT),
		errors.As(err, &timeout) && timeout.Timeout():
		return datasets.TimedOut
	case errors.As(err, &name):
		return datasets.LostLocal
	}
	for _, no := range []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.EHOSTDOWN} {
		if errors.Is(err, no) {
			return datasets.Refused
		}
	}
	for _, ours := range []error{
		syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EADDRNOTAVAIL, syscall.EADDRINUSE, syscall.EMFILE, syscall.ENFILE,
		syscall.ENOBUFS, syscall.ENOMEM, syscall.EAGAIN, syscall.EACCES, syscall.EPERM, context.Canceled, net.ErrClosed,
	} {
		if errors.Is(err, ours) {
			return datasets.LostLocal
		}
	}
	return datasets.Invalid
}

// callProbe is a probe that makes calls: what is the same for all protocols.
type callProbe struct {
	protocol string
	arrivals arrivals
	inflight int           // most calls in flight at once
	interval time.Duration // between due times, unless the plan says another
	columns  []string      // of the protocol's own; the last of all is why
	facts    []datasets.Field
	open     func() (caller, error)
	sleeper  func() *sleeper // newSleeper, but for tests in a time of their own
}

// bindCalls binds the options that all probes of calls have.
func bindCalls(fs *flag.FlagSet) func() (callProbe, error) {
	arrivals := bindArrivals(fs)
	inflight := fs.Int("inflight", 1000, "most `calls` in flight at once; what is due beyond that is lost-local")
	return func() (callProbe, error) {
		a, err := arrivals()
		if err == nil && (*inflight < 1 || *inflight > mostInflight) {
			err = fmt.Errorf("inflight %d: want 1 to %d", *inflight, mostInflight)
		}
		return callProbe{arrivals: a, inflight: *inflight, interval: 10 * time.Millisecond, sleeper: newSleeper}, err
	}
}

// run makes the calls that the plan asks for. Address is what the target resolved to.
func (p *callProbe) run(ctx context.Context, target, address string, plan Plan, rec Recorder) error {
	listen, err := listenFor(plan, 2*time.Second)
	if err != nil {
		return err
	}
	s, err := newSchedule(plan, p.interval)
	if err != nil {
		return err
	}
	s.arrivals = p.arrivals
	deadlines := deadlines{plan.Deadline, listen}
	epoch := time.Now().Add(lead)
	h := newHeader(datasets.RTT, target, address, epoch, plan)
	setPlan(h, s, deadlines, listen)
	setFacts(h, timerFact())
	setFacts(h, p.facts...)
	h.Set(datasets.KeyStamps, "user")
	h.Extra = append(append([]string{}, p.columns...), "why")
	if err := rec.Begin(h); err != nil {
		return err
	}
	r := &callRun{probe: p, epoch: epoch, schedule: s, deadlines: deadlines, listen: listen}
	r.sent.interval = s.interval
	return r.run(ctx, rec)
}
