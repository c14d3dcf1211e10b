package probes

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// reach says how calls over TCP get to their target: how its name is looked up, and whom
// TLS trusts.
type reach struct {
	each  bool // the name is looked up at each new connection
	trust trust
}

// bindReach binds the options that all probes of TCP and TLS have in common.
func bindReach(fs *flag.FlagSet) func() (reach, error) {
	dns := fs.String("dns", "once", "look the name up `once`, at the start, or at each new connection")
	trust := bindTrust(fs)
	return func() (reach, error) {
		r := reach{trust: *trust}
		switch *dns {
		case "once":
		case "each":
			r.each = true
		default:
			return r, fmt.Errorf("dns %q: want once or each", *dns)
		}
		return r, nil
	}
}

// endpoint is where calls connect to.
type endpoint struct {
	target string // host:port
	host   string // what the target calls it: a name or an address
	usual  uint16 // port
	remote netip.AddrPort
	each   bool
	tls    *tls.Config // nil: none
	dialer net.Dialer  // its connections do not delay small segments: Go sets TCP_NODELAY
}

// endpoint finds the target, unless each connection is to do that by itself.
func (r reach) endpoint(ctx context.Context, target string, usual uint16) (*endpoint, error) {
	e := &endpoint{target: target, usual: usual, each: r.each}
	var err error
	if e.host, _, err = splitTarget(target, usual); err != nil || e.each {
		return e, err
	}
	e.remote, err = remoteOf(ctx, target, usual, "ip", 0)
	return e, err
}

// secure has connections speak TLS, and one of these protocols above it.
func (e *endpoint) secure(t trust, protocols ...string) (err error) {
	e.tls, err = t.config(e.host)
	if err == nil {
		e.tls.NextProtos = protocols
	}
	return err
}

// address is what stands in the header; "" if it may be another at each connection.
func (e *endpoint) address() string {
	if e.each {
		return ""
	}
	return e.remote.String()
}

// dial connects. Stages that it goes through end when they do.
func (e *endpoint) dial(ctx context.Context, s *stages) (*watched, error) {
	remote := e.remote
	if e.each {
		var err error
		if remote, err = remoteOf(ctx, e.target, e.usual, "ip", 0); err != nil {
			return nil, err
		}
		s.end(stageDNS, time.Now())
	}
	conn, err := e.dialer.DialContext(ctx, "tcp", remote.String())
	if err != nil {
		return nil, err
	}
	s.end(stageConnect, time.Now())
	return &watched{Conn: conn}, nil
}

// handshake speaks TLS over a connection, which it closes if that fails.
func (e *endpoint) handshake(ctx context.Context, conn net.Conn, config *tls.Config, s *stages) (*tls.Conn, error) {
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	s.end(stageTLS, time.Now())
	return secured, nil
}
