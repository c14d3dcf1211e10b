package probes

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// tcp measures how long it takes to connect, each call a connection that is closed as
// soon as it is there, or how long a request and its response take on a connection that
// is kept.
type tcp struct {
	callProbe
	request *tcpRequest // nil: connect
}

func bindTCP(fs *flag.FlagSet) func() (Probe, error) {
	calls := bindCalls(fs)
	mode := fs.String("mode", "connect", "what a call is: `connect`, or request on a connection that is kept")
	request := bindTCPRequest(fs)
	return func() (Probe, error) {
		c, err := calls()
		if err != nil {
			return nil, err
		}
		r, err := request()
		if err != nil {
			return nil, err
		}
		p := tcp{callProbe: c}
		p.protocol = "tcp"
		switch *mode {
		case "connect":
			p.columns = tcpColumns()
		case "request":
			p.columns, p.request = lineColumns(), r
		default:
			return nil, fmt.Errorf("mode %q: want connect or request", *mode)
		}
		return p, nil
	}
}

// Kind returns RTT.
func (tcp) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host:port.
func (tcp) TakesTarget() bool { return true }

// Run calls as the plan's schedule says, every 10 ms by default, and listens 2 s.
func (p tcp) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	remote, err := resolve(ctx, target)
	if err != nil {
		return err
	}
	p.open = func() (caller, error) { return &tcpConnect{remote: remote}, nil }
	if p.request != nil {
		request, err := p.request.load()
		if err != nil {
			return err
		}
		p.open = func() (caller, error) { return newTCPRequester(remote, request), nil }
	}
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
	c.cells = tcpInfoOf(conn.(*net.TCPConn)).appendCells(c.cells, 0)
	conn.Close()
}

func (*tcpConnect) close() error { return nil }

// tcpInfo is what the kernel knows of a connection.
type tcpInfo struct {
	rtt, minRTT time.Duration // smoothed, and least of late; −1 unknown
	retransmits int64         // segments since the connection began, SYN included; −1 unknown
}

// tcpColumns are the kernel's knowledge at the end of a call: what the network alone
// takes, beside what the application waited.
func tcpColumns() []string { return []string{"tcp_rtt_ns", "tcp_min_rtt_ns", "tcp_retransmits"} }

// appendCells writes the cells of tcpColumns, of the retransmitted segments those beyond
// the first few.
func (i tcpInfo) appendCells(dst []byte, before int64) []byte {
	dst = appendKnown(dst, i.rtt)
	dst = appendKnown(append(dst, '\t'), i.minRTT)
	if dst = append(dst, '\t'); i.retransmits < 0 {
		return append(dst, '-')
	}
	return strconv.AppendInt(dst, i.retransmits-before, 10)
}
