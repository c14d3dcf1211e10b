package serve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

// Config says what to serve, where, and how badly.
type Config struct {
	UDP, TCP, NTP string // addresses to listen on, "127.0.0.1:0"; empty is not at all

	STAMP STAMP // of a Session-Reflector

	Faults  []Fault // of all but TCP, composed in this order
	Seed    uint64  // of every fault's decisions
	Stratum int     // that NTP claims, 1 to 16; 0 is 1
}

// Server is a running echo, over UDP, TCP or both, NTP server and STAMP reflector.
type Server struct {
	udp, ntp, stamp *listener // nil if not served
	tcp             *tcpEcho  // likewise
	line            *delayLine
	start           time.Time
	done            chan struct{}
	close           sync.Once
	running         sync.WaitGroup
}

// Start listens and serves until Close. An error is what hinders it from that: an
// address in use, a stratum that does not exist.
func Start(cfg Config) (*Server, error) {
	if cfg.UDP == "" && cfg.TCP == "" && cfg.NTP == "" && cfg.STAMP.Addr == "" {
		return nil, errors.New("serve: no UDP, TCP, NTP or STAMP address to listen on")
	}
	if cfg.Stratum < 0 || cfg.Stratum > 16 {
		return nil, fmt.Errorf("serve: stratum %d: want 1 to 16", cfg.Stratum)
	}
	s := &Server{start: time.Now(), done: make(chan struct{})}
	s.line = newDelayLine(s.done)
	err := s.listen(cfg)
	if err != nil {
		for _, l := range s.listeners() {
			l.conn.Close()
		}
		s.tcp.close()
		return nil, fmt.Errorf("serve: %w", err)
	}
	s.running.Go(s.line.run)
	if s.tcp != nil {
		s.running.Go(s.tcp.run)
	}
	for _, l := range s.listeners() {
		s.running.Go(l.run)
	}
	return s, nil
}

func (s *Server) listen(cfg Config) (err error) {
	if cfg.UDP != "" {
		if s.udp, err = s.listener(cfg, cfg.UDP, 0, &echoService{start: s.start}); err != nil {
			return err
		}
	}
	if cfg.TCP != "" {
		if s.tcp, err = listenTCP(cfg.TCP); err != nil {
			return err
		}
	}
	if cfg.NTP != "" {
		p, err := newNTPService(max(cfg.Stratum, 1), s.start)
		if err != nil {
			return err
		}
		if s.ntp, err = s.listener(cfg, cfg.NTP, 1, p); err != nil {
			return err
		}
	}
	return s.listenSTAMP(cfg)
}

func (s *Server) listenSTAMP(cfg Config) error {
	if cfg.STAMP.Addr == "" {
		return nil
	}
	p, err := newSTAMPService(cfg.STAMP, s.start)
	if err != nil {
		return err
	}
	if s.stamp, err = s.listener(cfg, cfg.STAMP.Addr, 1<<32, p); err != nil {
		return err
	}
	_ = s.stamp.conn.TellTTL() // where it cannot be had, replies say 0
	return nil
}

// listener opens a socket. The stream keeps the decisions of one listener apart
// from those of the others.
func (s *Server) listener(cfg Config, addr string, stream uint64, sv service) (*listener, error) {
	conn, err := stamp.Listen(addr)
	if err != nil {
		return nil, err
	}
	l := &listener{conn: conn, service: sv, line: s.line, start: s.start, done: s.done, buf: make([]byte, maxDatagram)}
	if d, ok := sv.(stamped); ok && conn.StampDepartures(datasets.Kernel) == nil {
		l.stamped = d
	}
	for i, f := range cfg.Faults {
		l.faults = append(l.faults, seeded{f, rand.New(rand.NewPCG(cfg.Seed, uint64(i)<<1|stream))})
		if z, ok := f.(freeze); ok {
			l.freezes = append(l.freezes, z)
		}
	}
	return l, nil
}

func (s *Server) listeners() []*listener {
	var all []*listener
	for _, l := range []*listener{s.udp, s.ntp, s.stamp} {
		if l != nil {
			all = append(all, l)
		}
	}
	return all
}

// UDPAddr returns where the echo listens, and the zero address if it is not served.
func (s *Server) UDPAddr() netip.AddrPort { return s.udp.addr() }

// TCPAddr returns where bytes are echoed over TCP, and the zero address if they are not.
func (s *Server) TCPAddr() netip.AddrPort { return s.tcp.addr() }

// NTPAddr returns where NTP is served, and the zero address if it is not.
func (s *Server) NTPAddr() netip.AddrPort { return s.ntp.addr() }

// STAMPAddr returns where STAMP is reflected, and the zero address if it is not.
func (s *Server) STAMPAddr() netip.AddrPort { return s.stamp.addr() }

// Close stops serving, drops the replies still delayed and returns when every
// goroutine has ended. The error is what stopped a listener before that.
func (s *Server) Close() error {
	var errs []error
	s.close.Do(func() {
		close(s.done)
		for _, l := range s.listeners() {
			l.conn.Close()
		}
		s.tcp.close()
	})
	s.running.Wait()
	for _, l := range s.listeners() {
		errs = append(errs, l.failure)
	}
	if s.tcp != nil {
		errs = append(errs, s.tcp.failure)
	}
	return errors.Join(errs...)
}
