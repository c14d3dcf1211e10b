package probes

import (
	"context"
	"flag"
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// dns measures how long a server takes to answer a query. Every answer with a code is
// one: NXDOMAIN is a status.
type dns struct {
	callProbe
	query     *dnsQuery
	transport string
}

const (
	dnsPort = 53
	overUDP = "udp" // a socket of its own, and so a source port, for each of the calls in flight together
	overTCP = "tcp" // on connections that are kept (RFC 7766)
)

func bindDNS(fs *flag.FlagSet) func() (Probe, error) {
	calls := bindCalls(fs)
	transport := fs.String("transport", overUDP, "`udp`, or tcp on a connection that is kept")
	query := bindDNSQuery(fs)
	return func() (Probe, error) {
		c, err := calls()
		if err != nil {
			return nil, err
		}
		q, err := query()
		if err != nil {
			return nil, err
		}
		c.protocol, c.columns, c.interval = "dns", dnsColumns(), 100*time.Millisecond
		switch *transport {
		case overUDP:
		case overTCP:
			c.columns = append(lineColumns(), c.columns...)
		default:
			return nil, fmt.Errorf("transport %q: want udp or tcp", *transport)
		}
		return dns{c, q, *transport}, nil
	}
}

// Kind returns RTT.
func (dns) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is the server, host or host:port, the port 53 if not
// said.
func (dns) TakesTarget() bool { return true }

// Run asks as the plan's schedule says, every 100 ms by default, and listens 2 s.
func (p dns) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	remote, err := remoteOf(ctx, target, dnsPort, "ip", 0)
	if err != nil {
		return err
	}
	p.open = func() (caller, error) {
		if p.transport == overTCP {
			return &dnsOverTCP{tcpLine: tcpLine{remote: remote}, query: p.query}, nil
		}
		return &dnsOverUDP{remote: remote, query: p.query}, nil
	}
	return p.run(ctx, target, remote.String(), plan, rec)
}
