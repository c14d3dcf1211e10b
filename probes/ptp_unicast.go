package probes

import (
	"context"
	"math/bits"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ptpUnicast is a session by unicast negotiation (IEEE 1588-2019 §16.1): the master is
// asked for Announce, Sync and Delay_Resp for a minute, and again before that is over.
// A Delay_Req leaves as soon as a Sync is whole, so that the two are of one moment; it is
// due then: when that is within an interval is up to the master.
type ptpUnicast struct {
	*ptpPeer
	negotiation
	listen         time.Duration
	early          unannounced
	sync, followUp ptpHeard    // the last
	master         wire.PortID // of the last exchange
}

func openUnicast(p ptpProbe, remote netip.Addr, interval, listen time.Duration, plan Plan) (ptpClient, error) {
	q, err := newPTPPeer(p, remote, plan, false)
	if err != nil {
		return nil, err
	}
	return &ptpUnicast{ptpPeer: q, negotiation: newNegotiation(logInterval(interval)), listen: listen}, nil
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
	sync, followUp, occasion := u.sync, u.followUp, u.completed()
	u.master = sync.Source
	asked, err := u.ask(false)
	a = attempted{sent: asked.sent, occasion: occasion, err: err}
	if err != nil {
		row.Outcome = datasets.LostLocal
		return a
	}
	row.Size = asked.size
	resp, ok := u.awaitResp(ctx, occasion.mono.Add(u.listen))
	if !ok {
		row.Outcome = datasets.TimedOut
		u.doubt()
		return a
	}
	row.Elapsed = resp.read.mono.Sub(asked.sent.mono)
	row.T1, row.T2, row.T4 = asked.t1, u.probe.master(resp.Timestamp), sync.at
	if sync.Flags.Has(wire.FlagTwoStep) {
		row.T3 = u.probe.master(followUp.Timestamp)
		corrected(row, resp.Correction, sync.Correction, followUp.Correction)
	} else {
		row.T3 = u.probe.master(sync.Timestamp)
		corrected(row, resp.Correction, sync.Correction)
	}
	u.finish(row, sync.read, &resp)
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

// completed is when the last Sync was whole.
func (u *ptpUnicast) completed() moment {
	if u.sync.Flags.Has(wire.FlagTwoStep) && u.followUp.read.mono.After(u.sync.read.mono) {
		return u.followUp.read
	}
	return u.sync.read
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
		if h.Source != u.master && u.announcedBy(u.master) {
			u.strays.Add(1)
			return
		}
		u.announce = *h
	default:
		u.strays.Add(1)
	}
}

// awaitResp returns the master's answer to the last Delay_Req.
func (u *ptpUnicast) awaitResp(ctx context.Context, until time.Time) (ptpHeard, bool) {
	for {
		h, ok := u.next(ctx, until)
		if !ok {
			return h, false
		}
		if h.Type == wire.DelayResp && h.Requesting == u.id && h.Sequence == u.number && h.Source == u.master {
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
	_, err = u.ports.general.WriteTo(b, netip.AddrPortFrom(u.remote, wire.PTPGeneralPort))
	return err
}

// close ends the sessions that are granted still.
func (u *ptpUnicast) close() error {
	if open := u.open(time.Now()); open != nil {
		_ = u.signal(cancel, open...) // if this is lost the master ends them by itself
	}
	return u.ptpPeer.close()
}
