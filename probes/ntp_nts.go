package probes

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/facebook/time/ntp/ntske"
	"github.com/facebook/time/ntp/protocol"
	"github.com/facebook/time/ntp/protocol/nts"

	"github.com/tickmark/tickmark/datasets/wire"
)

// ntsSession authenticates requests and replies by Network Time Security (RFC 8915):
// keys and a store of cookies from a TLS handshake, one cookie spent by each request
// and one won back with each reply.
type ntsSession struct {
	server  string // of the handshake: host:port
	tls     *tls.Config
	timeout time.Duration

	keys       *ntske.HandshakeResult
	to, from   nts.AEAD // of what we send and receive
	cookies    [][]byte
	id         [32]byte // of the request under way
	handshakes int64
}

// fullStore is how many cookies a client keeps (RFC 8915 §5.7).
const fullStore = 8

// openNTS makes the handshake and returns the session and the NTP server that it
// names, whose address is target's unless the server says otherwise.
func openNTS(ctx context.Context, p ntpProbe, host string, at netip.AddrPort, timeout time.Duration) (*ntsSession, netip.AddrPort, error) {
	s := &ntsSession{
		server:  net.JoinHostPort(at.Addr().String(), strconv.Itoa(p.ntsPort)),
		timeout: timeout,
		tls:     &tls.Config{ServerName: host, MinVersion: tls.VersionTLS13},
	}
	if p.ca != "" {
		var err error
		if s.tls.RootCAs, err = certificates(p.ca); err != nil {
			return nil, at, err
		}
	}
	if err := s.handshake(ctx); err != nil {
		return nil, at, err
	}
	return s, s.remote(ctx, at), nil
}

// String says what was agreed on.
func (s *ntsSession) String() string {
	return fmt.Sprintf("%s, AEAD %d, %d cookies", s.server, s.keys.AEAD, len(s.keys.Cookies))
}

// remote is where the handshake sends us.
func (s *ntsSession) remote(ctx context.Context, at netip.AddrPort) netip.AddrPort {
	if s.keys.NTPPort != 0 {
		at = netip.AddrPortFrom(at.Addr(), s.keys.NTPPort)
	}
	if s.keys.NTPServer == "" {
		return at
	}
	ctx, stop := context.WithTimeout(ctx, s.timeout)
	defer stop()
	if all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", s.keys.NTPServer); err == nil && len(all) > 0 {
		return netip.AddrPortFrom(all[0].Unmap(), at.Port())
	}
	return at
}

func (s *ntsSession) handshake(ctx context.Context) error {
	// The order is of preference; chrony exports AES-128-GCM-SIV keys in its own way
	// unless both sides say they do not.
	c := ntske.Client{Timeout: s.timeout, RequestCompliantExport: true, SupportedAEAD: []uint16{
		uint16(protocol.AEADAESSIVCMAC256), uint16(protocol.AEADAES128GCMSIV),
	}}
	keys, err := c.Handshake(ctx, s.server, s.tls)
	if err != nil {
		return fmt.Errorf("nts: handshake with %s: %w", s.server, err)
	}
	s.keys, s.cookies = keys, keys.Cookies
	if s.to, err = ntsAEAD(keys.AEAD, keys.C2S); err == nil {
		s.from, err = ntsAEAD(keys.AEAD, keys.S2C)
	}
	if err != nil {
		return err
	}
	s.handshakes++
	if len(s.cookies) == 0 {
		return fmt.Errorf("nts: handshake with %s: it gave no cookies", s.server)
	}
	return nil
}

// protect returns the request as it goes on the wire. It asks for as many cookies as
// the store lacks, and makes a new handshake when that is empty.
func (s *ntsSession) protect(ctx context.Context, request *wire.NTP) ([]byte, error) {
	if len(s.cookies) == 0 {
		if err := s.handshake(ctx); err != nil {
			return nil, err
		}
	}
	cookie := s.cookies[0]
	s.cookies = s.cookies[1:]
	_, _ = rand.Read(s.id[:]) // never fails: the program would have ended
	var base protocol.Packet
	if err := base.UnmarshalBinary(request.AppendTo(nil)); err != nil {
		return nil, fmt.Errorf("nts: %w", err)
	}
	return ntsRequest(base, s.to, s.id[:], cookie, max(0, fullStore-1-len(s.cookies)))
}

// open says why the reply is not authentic, and takes its cookies if it is. A server
// that has lost its keys answers with the kiss code NTSN; what cookies there are are
// then thrown away, and the next request begins with a handshake.
func (s *ntsSession) open(reply []byte, p *wire.NTP) error {
	if p.Stratum == 0 {
		if p.Refid() == "NTSN" {
			s.cookies = nil
		}
		return nil // judged as a kiss
	}
	cookies, err := ntsReply(reply, s.from, s.id[:])
	if err != nil {
		return err
	}
	s.cookies = append(s.cookies, cookies...)
	if len(s.cookies) > fullStore {
		s.cookies = s.cookies[len(s.cookies)-fullStore:]
	}
	return nil
}
