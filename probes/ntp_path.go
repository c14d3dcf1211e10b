package probes

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"

	"github.com/tickmark/tickmark/datasets"
)

// ntpPath is the one path, by the five numbers that routers balance load on, of a
// recording. The library makes a socket for each query; here all are bound to one
// local port.
type ntpPath struct {
	remote netip.AddrPort
	local  netip.AddrPort
	stamps datasets.Source // that the reply's arrival is expected to get
	hold   io.Closer       // keeps the port between the queries, where that can be done
}

func openNTPPath(ctx context.Context, remote netip.AddrPort) (*ntpPath, error) {
	p := &ntpPath{remote: remote, hold: io.NopCloser(nil)}
	first, err := p.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", remote, err)
	}
	defer first.Close()
	p.local = first.LocalAddr().(*net.UDPAddr).AddrPort()
	p.holdPort(ctx, first)
	return p, nil
}

// dial returns the socket of one query. It is made by the calling goroutine, in
// whatever network namespace that is.
func (p *ntpPath) dial(ctx context.Context) (*net.UDPConn, error) {
	d := net.Dialer{}
	if p.local.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(p.local)
		d.Control = sharePort
	}
	c, err := d.DialContext(ctx, "udp", p.remote.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.UDPConn), nil
}

func (p *ntpPath) close() error { return p.hold.Close() }
