package probes

import (
	"context"
	"flag"
	"net"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// tcp measures how long it takes to connect: one call is one connection, closed as soon
// as it is there.
type tcp struct{ callProbe }

func bindTCP(fs *flag.FlagSet) func() (Probe, error) {
	calls := bindCalls(fs)
	return func() (Probe, error) {
		c, err := calls()
		c.protocol = "tcp"
		return tcp{c}, err
	}
}

// Kind returns RTT.
func (tcp) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host:port.
func (tcp) TakesTarget() bool { return true }

// Run connects as the plan's schedule says, every 10 ms by default, and listens 2 s.
func (p tcp) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	remote, err := resolve(ctx, target)
	if err != nil {
		return err
	}
	p.open = func() (caller, error) { return &tcpConnect{remote: remote}, nil }
	return p.run(ctx, target, remote.String(), plan, rec)
}

type tcpConnect struct {
	dialer net.Dialer
	remote netip.AddrPort
}

func (t *tcpConnect) call(ctx context.Context, c *called) {
	conn, err := t.dialer.DialContext(ctx, "tcp", t.remote.String())
	c.answered = time.Now()
	if err != nil {
		c.fail(err)
		return
	}
	conn.Close()
}

func (*tcpConnect) close() error { return nil }
