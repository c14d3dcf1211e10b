package probes

import (
	"context"
	"crypto/tls"
	"flag"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// tlsProbe measures how long it takes to connect and shake hands by TLS: one call is one
// connection, closed as soon as it is secure.
type tlsProbe struct {
	callProbe
	reach  reach
	resume bool
}

const httpsPort = 443

func bindTLS(fs *flag.FlagSet) func() (Probe, error) {
	calls, reach := bindCalls(fs), bindReach(fs)
	resume := fs.Bool("resume", false, "resume an earlier session wherever the server gave a ticket for it: `true` or false")
	return func() (Probe, error) {
		c, err := calls()
		if err != nil {
			return nil, err
		}
		r, err := reach()
		c.protocol, c.interval = "tls", 100*time.Millisecond
		c.columns = append(stageColumns(stageTLS), "handshake_ns", "resumed", "version")
		return tlsProbe{c, r, *resume}, err
	}
}

// Kind returns RTT.
func (tlsProbe) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host or host:port, the port 443 if not said.
func (tlsProbe) TakesTarget() bool { return true }

// Run connects as the plan's schedule says, every 100 ms by default, and listens 2 s.
func (p tlsProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	e, err := p.reach.endpoint(ctx, target, httpsPort)
	if err != nil {
		return err
	}
	if err := e.secure(p.reach.trust); err != nil {
		return err
	}
	var sessions tls.ClientSessionCache
	if p.resume {
		sessions = tls.NewLRUClientSessionCache(1)
	}
	p.open = func() (caller, error) { return &handshaker{endpoint: e, sessions: sessions}, nil }
	return p.run(ctx, target, e.address(), plan, rec)
}

// handshaker connects and shakes hands.
type handshaker struct {
	*endpoint
	sessions tls.ClientSessionCache // of all lines; nil: every handshake is a full one
	stages   stages
}

func (h *handshaker) call(ctx context.Context, c *called) {
	h.stages.begin(stageTLS+1, c.sent)
	conn, err := h.dial(ctx, &h.stages)
	if err != nil {
		h.fail(ctx, c, nil, err)
		return
	}
	defer conn.Close()
	config, tickets := h.tls, (*tickets)(nil)
	if h.sessions != nil {
		config = config.Clone()
		tickets = newTickets(h.sessions, conn)
		config.ClientSessionCache = tickets
	}
	secured, err := h.handshake(ctx, conn, config, &h.stages)
	if err != nil {
		h.fail(ctx, c, conn, err)
		return
	}
	c.answered = h.stages.last
	state := secured.ConnectionState()
	c.cells = append(h.stages.appendCells(c.cells), '\t')
	c.cells = append(appendFlag(c.cells, state.DidResume), '\t')
	c.cells = append(c.cells, tlsVersion(state.Version)...)
	if tickets != nil && state.Version == tls.VersionTLS13 {
		tickets.await(secured, c.answered.Sub(c.sent))
	}
}

func (h *handshaker) fail(ctx context.Context, c *called, conn *watched, err error) {
	c.answered = time.Now()
	c.cells = append(h.stages.appendCells(c.cells), "\t-\t-"...)
	c.failOver(ctx, conn, false, err)
}

func (*handshaker) close() error { return nil }

// appendFlag writes 1 or 0.
func appendFlag(dst []byte, yes bool) []byte {
	if yes {
		return append(dst, '1')
	}
	return append(dst, '0')
}

// tlsVersion is 1.3 for what Go calls TLS 1.3.
func tlsVersion(v uint16) string { return tls.VersionName(v)[len("TLS "):] }
