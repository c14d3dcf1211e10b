package probes

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ptpSimple is SPTP, facebook's profile without sessions: a Delay_Req is answered by a
// Sync, whose time stamp is T2, and an Announce, whose time stamp is T3.
type ptpSimple struct{ *ptpPeer }

func openSimple(ctx context.Context, p ptpProbe, remote netip.Addr, plan Plan) (*ptpSimple, error) {
	q, err := newPTPPeer(ctx, p, remote, plan)
	if err != nil {
		return nil, err
	}
	q.listenTo(q.send)
	return &ptpSimple{q}, nil
}

func (s *ptpSimple) facts() []datasets.Field { return s.ptpPeer.facts("sptp") }

// answers reports whether the master speaks SPTP: two requests are made to find out.
func (s *ptpSimple) answers(ctx context.Context, timeout time.Duration) bool {
	for range 2 {
		var row datasets.Exchange
		if s.attempt(ctx, time.Now().Add(timeout), &row); row.Outcome != datasets.TimedOut && row.Outcome != datasets.LostLocal {
			return true
		}
	}
	return false
}

func (s *ptpSimple) attempt(ctx context.Context, until time.Time, row *datasets.Exchange) attempted {
	*row = datasets.Exchange{}
	sent, packet, size, err := s.ask(true)
	if err != nil {
		row.Outcome = datasets.LostLocal
		return attempted{sent: sent, err: err}
	}
	row.Size, row.Outcome = size, datasets.TimedOut
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	var sync, announce ptpHeard
	for sync.Type != wire.Sync || announce.Type != wire.Announce || sync.read.isZero() {
		h, ok := s.next(ctx, timer.C)
		switch {
		case !ok:
			return attempted{sent: sent, err: errors.New("stopped")}
		case h.Sequence != s.number:
			s.strays++ // late, or an answer to somebody else
		case h.Type == wire.Sync:
			sync = h
		case h.Type == wire.Announce:
			announce = h
		}
	}
	last := announce.read
	if sync.read.mono.After(last.mono) {
		last = sync.read
	}
	row.Elapsed = last.mono.Sub(sent.mono)
	row.T1, row.T2 = s.departed(sent, packet), s.master(sync.Timestamp)
	row.T3, row.T4 = s.master(announce.Timestamp), sync.at
	row.CorrectionOut, row.CorrectionBack = correction(announce.Correction), correction(sync.Correction)
	s.finish(row, sent, last)
	return attempted{sent: sent}
}
