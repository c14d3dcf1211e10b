package probes

import (
	"context"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ptpSimple is SPTP, facebook's profile without sessions: a Delay_Req is answered by a
// Sync, whose time stamp is T2, and an Announce, whose time stamp is T3.
type ptpSimple struct{ *ptpPeer }

// openSimple returns a client that asks from a port the system chooses, to which it is
// answered for the sake of its port number. A NIC may stamp by the port that a message
// goes to: for hardware stamps the ports are PTP's.
func openSimple(p ptpProbe, remote netip.Addr, plan Plan) (ptpClient, error) {
	q, err := newPTPPeer(p, remote, plan, sourceOf(p.stamps) != datasets.Hardware)
	if err != nil {
		return nil, err
	}
	return &ptpSimple{q}, nil
}

func (s *ptpSimple) facts() []datasets.Field { return s.ptpPeer.facts("sptp") }

// answersSimple reports whether the master speaks SPTP: two requests are made to find out.
func answersSimple(ctx context.Context, client ptpClient, timeout time.Duration) bool {
	for range 2 {
		var row datasets.Exchange
		if client.attempt(ctx, time.Now().Add(timeout), &row); row.Outcome != datasets.TimedOut && row.Outcome != datasets.LostLocal {
			return true
		}
	}
	return false
}

func (s *ptpSimple) attempt(ctx context.Context, until time.Time, row *datasets.Exchange) attempted {
	*row = datasets.Exchange{}
	s.drain(func(*ptpHeard) { s.strays.Add(1) }) // late, or an answer to somebody else
	asked, err := s.ask(true)
	a := attempted{sent: asked.sent, err: err}
	if err != nil {
		row.Outcome = datasets.LostLocal
		return a
	}
	row.Size = asked.size
	sync, announce, ok := s.answer(ctx, until)
	if !ok {
		row.Outcome = datasets.TimedOut
		return a
	}
	s.announce = announce
	last := announce
	if sync.read.mono.After(last.read.mono) {
		last = sync
	}
	row.Elapsed = last.read.mono.Sub(asked.sent.mono)
	row.T1, row.T2 = asked.t1, s.probe.master(sync.Timestamp)
	row.T3, row.T4 = s.probe.master(announce.Timestamp), sync.at
	corrected(row, announce.Correction, sync.Correction)
	s.finish(row, asked.sent, &last)
	s.probe.announced(row, announce.Flags, &announce.Announcement)
	return a
}

// answer returns the two messages of one server that answer the last request, in
// whatever order they come, and false if one does not.
func (s *ptpSimple) answer(ctx context.Context, until time.Time) (sync, announce ptpHeard, ok bool) {
	for {
		h, ok := s.next(ctx, until)
		switch {
		case !ok:
			return sync, announce, false
		case h.Sequence != s.number:
			s.strays.Add(1)
			continue
		case h.Type == wire.Sync:
			sync = h
		case h.Type == wire.Announce:
			announce = h
		}
		if !sync.read.isZero() && !announce.read.isZero() && sync.Source == announce.Source {
			return sync, announce, true
		}
	}
}
