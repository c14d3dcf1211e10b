package serve

import (
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/stamp"
	"github.com/tickmark/tickmark/probes/twoway"
)

// STAMP says how to be a Session-Reflector of STAMP (RFC 8762, RFC 8972). The zero STAMP
// is none.
type STAMP struct {
	Addr      string // to listen on; empty is not at all
	Stateless bool   // replies have the number of their request, instead of counting
	Format    string // of times: twoway.NTP, which is also "", or twoway.PTP
	Key       []byte // of the authenticated mode; none is the unauthenticated one
	// Short answers the requests of TWAMP Light senders that are shorter than a reply,
	// as RFC 8762 §4.6 has it: up to three times as many bytes go to whoever is named as
	// the sender.
	Short bool
}

// stampService reflects the packets of whoever sends any: a session is not provisioned,
// it begins with its first packet.
type stampService struct {
	start    time.Time
	in, out  *wire.STAMP // of the goroutine that reads, and of whoever holds listener.sending
	clock    *twoway.Clock
	sessions *sessions // nil is stateless
	short    bool
	test     wire.STAMPTest // the last one accepted
}

func newSTAMPService(cfg STAMP, start time.Time) (*stampService, error) {
	format := cfg.Format
	if format == "" {
		format = twoway.NTP
	}
	clock, err := twoway.NewClock(format)
	s := &stampService{start: start, in: wire.NewSTAMP(cfg.Key), out: wire.NewSTAMP(cfg.Key), clock: clock, short: cfg.Short}
	if !cfg.Stateless {
		s.sessions = &sessions{}
	}
	return s, err
}

func (s *stampService) accepts(b []byte) bool {
	if len(b) < s.in.Size() && !s.short || s.in.AlreadyReflected(b) {
		return false
	}
	var err error
	s.test, err = s.in.Test(b)
	return err == nil
}

func (s *stampService) answer(b []byte, n int, a *stamp.Arrival, t *treatment) int {
	sealed := s.out.MarkTLVs(b[:n])
	if size := s.out.Size(); n < size {
		clear(b[n:size])
		n = size
	}
	r := wire.STAMPReflected{Sender: s.test, TTL: a.TTL}
	r.Seq, r.SSID = s.test.Seq, s.test.SSID
	if s.sessions != nil {
		r.Seq = s.sessions.next(session{a.From, s.test.SSID}, a.Mono)
	}
	wall, _ := a.Wall.UnixNanos()
	r.Received, _ = s.clock.Stamp(wall + int64(t.received()))
	if t.forged {
		r.Sender.Seq, r.Sender.Time = ^r.Sender.Seq, ^r.Sender.Time
	}
	s.out.PutReflected(b, &r)
	s.out.SealTLVs(b[:n], sealed)
	return n
}

func (s *stampService) seal(b []byte, t *treatment) {
	now := time.Now()
	at, e := s.clock.Stamp(now.UnixNano() + int64(t.sent(now.Sub(s.start))))
	s.out.Seal(b, at, e)
}
