package probes

import (
	"context"
	"errors"
	"math/bits"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ptpUnicast is a session by unicast negotiation (IEEE 1588-2019 §16.1): the master is
// asked for Announce, Sync and Delay_Resp for a minute, and again before that is over.
// A Delay_Req leaves as soon as a Sync is whole, so that the two are of one moment.
type ptpUnicast struct {
	*ptpPeer
	negotiation
	sync, followUp ptpHeard // the last
}

func openUnicast(p ptpProbe, remote netip.Addr, interval time.Duration, plan Plan) (ptpClient, error) {
	q, err := newPTPPeer(p, remote, plan)
	if err != nil {
		return nil, err
	}
	if err := q.usePorts(); err != nil {
		return nil, errors.Join(err, q.close())
	}
	q.listen()
	return &ptpUnicast{ptpPeer: q, negotiation: newNegotiation(logInterval(interval))}, nil
}

// logInterval is the longest power of two of a second, from 2⁻⁷ to 2⁴, that is not
// longer than interval.
func logInterval(interval time.Duration) int8 {
	units := max(1, uint64(interval)*128/uint64(time.Second))
	return int8(min(bits.Len64(units)-1, 11) - 7)
}

func (u *ptpUnicast) facts() []datasets.Field { return u.ptpPeer.facts("unicast") }

func (u *ptpUnicast) trailer() []datasets.Field {
	return append(u.ptpPeer.trailer(), u.negotiation.trailer()...)
}

func (u *ptpUnicast) attempt(ctx context.Context, until time.Time, row *datasets.Exchange) attempted {
	*row = datasets.Exchange{}
	u.drain(u.note)
	u.sync, u.followUp, u.no = ptpHeard{}, ptpHeard{}, false
	a := attempted{sent: thisMoment()}
	if row.Outcome, a.err = u.awaitSync(ctx, until); row.Outcome != datasets.Replied {
		if row.Outcome == datasets.TimedOut {
			u.doubt() // it may have forgotten us
		}
		return a
	}
	sync, followUp := u.sync, u.followUp
	sent, packet, size, err := u.ask(false)
	a = attempted{sent: sent, err: err}
	if err != nil {
		row.Outcome = datasets.LostLocal
		return a
	}
	row.Size = size
	resp, ok := u.awaitResp(ctx, until, sync.Source)
	if !ok {
		row.Outcome = datasets.TimedOut
		u.doubt()
		return a
	}
	row.Elapsed = resp.read.mono.Sub(sent.mono)
	row.T1, row.T2, row.T4 = u.departed(sent, packet), u.probe.master(resp.Timestamp), sync.at
	if sync.Flags.Has(wire.FlagTwoStep) {
		row.T3 = u.probe.master(followUp.Timestamp)
		corrected(row, resp.Correction, sync.Correction, followUp.Correction)
	} else {
		row.T3 = u.probe.master(sync.Timestamp)
		corrected(row, resp.Correction, sync.Correction)
	}
	u.finish(row, sync, resp)
	return a
}

// awaitSync returns Replied when there is a Sync with its time stamp, and else what
// became of it. It negotiates meanwhile.
func (u *ptpUnicast) awaitSync(ctx context.Context, until time.Time) (datasets.Outcome, error) {
	for !u.whole() {
		if lack := u.lack(time.Now()); lack != nil {
			if err := u.signal(request, lack...); err != nil {
				return datasets.LostLocal, err
			}
		}
		wake := until
		if again, lacks := u.again(); lacks && again.Before(until) {
			wake = again
		}
		h, ok := u.next(ctx, wake)
		switch {
		case ok:
			u.note(&h)
		case ctx.Err() != nil || !time.Now().Before(until):
			return datasets.TimedOut, nil
		}
		if u.no {
			return datasets.Refused, nil
		}
	}
	return datasets.Replied, nil
}

// whole reports whether the last Sync has its time stamp. It and its Follow_Up come
// through two sockets, in whatever order.
func (u *ptpUnicast) whole() bool {
	f := &u.followUp
	return !u.sync.read.isZero() && (!u.sync.Flags.Has(wire.FlagTwoStep) ||
		!f.read.isZero() && f.Sequence == u.sync.Sequence && f.Source == u.sync.Source)
}

// note keeps what is of use beyond the moment.
func (u *ptpUnicast) note(h *ptpHeard) {
	switch h.Type {
	case wire.Signaling:
		for _, kind := range u.told(&h.PTP, time.Now()) {
			_ = u.signal(acknowledge, session{kind: kind}) // else the master asks again
		}
	case wire.Sync:
		u.sync = *h
	case wire.FollowUp:
		u.followUp = *h
	case wire.Announce:
	default:
		u.strays.Add(1)
	}
}

// awaitResp returns the master's answer to the last Delay_Req.
func (u *ptpUnicast) awaitResp(ctx context.Context, until time.Time, master wire.PortID) (ptpHeard, bool) {
	for {
		h, ok := u.next(ctx, until)
		if !ok {
			return h, false
		}
		if h.Type == wire.DelayResp && h.Requesting == u.id && h.Sequence == u.number && h.Source == master {
			return h, true
		}
		u.note(&h)
	}
}

func (u *ptpUnicast) signal(what purpose, sessions ...session) error {
	u.requests++
	b, err := signaling(u.id, uint8(u.probe.domain), u.requests, what, sessions...)
	if err != nil {
		return err
	}
	_, err = u.ears[1].WriteTo(b, netip.AddrPortFrom(u.remote, wire.PTPGeneralPort))
	return err
}

// close ends the sessions that are granted still.
func (u *ptpUnicast) close() error {
	if open := u.open(time.Now()); open != nil {
		_ = u.signal(cancel, open...) // if this is lost the master ends them by itself
	}
	return u.ptpPeer.close()
}
