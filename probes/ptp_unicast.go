package probes

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/stamp"
)

// ptpUnicast is a session by unicast negotiation (IEEE 1588-2019 §16.1): the master is
// asked for Announce, Sync and Delay_Resp for a minute, and again before that is over.
// A Delay_Req leaves as soon as a Sync is whole, so that the two are of one moment.
type ptpUnicast struct {
	*ptpPeer
	general  *stamp.Conn
	wanted   []session
	until    map[wire.PTPType]time.Time // of what is granted
	asked    time.Time
	denied   int64
	requests uint16 // signaling messages sent
	sync     ptpHeard
	whole    bool // sync has its time stamp
	origin   wire.PTPTime
	extra    wire.Correction
}

// sessionLength is how long a session is asked for, and renewal when it is asked for
// again before its end.
const (
	sessionLength = 60 * time.Second
	renewal       = 20 * time.Second
	// impatience is how often a request that was not granted is repeated.
	impatience = time.Second
)

func openUnicast(ctx context.Context, p ptpProbe, remote netip.Addr, interval time.Duration, plan Plan) (*ptpUnicast, error) {
	q, err := newPTPPeer(ctx, p, remote, plan)
	if err != nil {
		return nil, err
	}
	u := &ptpUnicast{ptpPeer: q, until: map[wire.PTPType]time.Time{}}
	u.wanted = []session{
		{wire.Announce, 0, sessionLength}, {wire.Sync, logInterval(interval), sessionLength},
		{wire.DelayResp, logInterval(interval), sessionLength},
	}
	// The master answers to the ports of PTP, wherever it was asked from.
	local := q.send.LocalAddr().Addr()
	event, err := q.socket(netip.AddrPortFrom(local, wire.PTPEventPort))
	if err == nil {
		q.listenTo(event)
		if u.general, err = q.socket(netip.AddrPortFrom(local, wire.PTPGeneralPort)); err == nil {
			q.listenTo(u.general)
			return u, nil
		}
	}
	return nil, errors.Join(err, q.close())
}

// logInterval is the longest power of two of a second, from 2⁻⁷ to 2⁴, that is not
// longer than interval.
func logInterval(interval time.Duration) int8 {
	units := max(1, uint64(interval)*128/uint64(time.Second))
	return int8(min(bits.Len64(units)-1, 11) - 7)
}

func (u *ptpUnicast) facts() []datasets.Field { return u.ptpPeer.facts("unicast") }

func (u *ptpUnicast) trailer() []datasets.Field {
	return append(u.ptpPeer.trailer(), count("denied", u.denied))
}

func (u *ptpUnicast) attempt(ctx context.Context, until time.Time, row *datasets.Exchange) attempted {
	*row = datasets.Exchange{Sample: datasets.Sample{Outcome: datasets.TimedOut}}
	began := thisMoment()
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	if err := u.negotiate(); err != nil {
		row.Outcome = datasets.LostLocal
		return attempted{sent: began, err: err}
	}
	u.sync, u.whole = ptpHeard{}, false
	for !u.whole {
		h, ok := u.next(ctx, timer.C)
		if !ok {
			return attempted{sent: began, err: errors.New("stopped")}
		}
		u.take(&h)
		if err := u.negotiate(); err != nil {
			row.Outcome = datasets.LostLocal
			return attempted{sent: began, err: err}
		}
	}
	return u.ask1(ctx, timer.C, row)
}

// take keeps a Sync and completes it by its Follow_Up, which may come first.
func (u *ptpUnicast) take(h *ptpHeard) {
	switch {
	case h.Type == wire.Signaling:
		u.grant(&h.PTP)
	case h.Type == wire.Sync && !h.Flags.Has(wire.FlagTwoStep):
		u.sync, u.origin, u.extra, u.whole = *h, h.Timestamp, 0, true
	case h.Type == wire.Sync:
		u.sync = *h
	case h.Type == wire.FollowUp && u.sync.Type == wire.Sync && !u.sync.read.isZero() &&
		h.Sequence == u.sync.Sequence && h.Source == u.sync.Source:
		u.origin, u.extra, u.whole = h.Timestamp, h.Correction, true
	}
}

// ask1 sends the Delay_Req and waits for its Delay_Resp.
func (u *ptpUnicast) ask1(ctx context.Context, until <-chan time.Time, row *datasets.Exchange) attempted {
	sync, origin, extra := u.sync, u.origin, u.extra
	sent, packet, size, err := u.ask(false)
	if err != nil {
		row.Outcome = datasets.LostLocal
		return attempted{sent: sent, err: err}
	}
	row.Size = size
	for {
		h, ok := u.next(ctx, until)
		if !ok {
			return attempted{sent: sent, err: errors.New("stopped")}
		}
		if h.Type != wire.DelayResp {
			u.take(&h)
			continue
		}
		if h.Requesting != u.id || h.Sequence != u.number {
			u.strays++
			continue
		}
		row.Elapsed = h.read.mono.Sub(sent.mono)
		row.T1, row.T2 = u.departed(sent, packet), u.master(h.Timestamp)
		row.T3, row.T4 = u.master(origin), sync.at
		row.CorrectionOut, row.CorrectionBack = correction(h.Correction), correction(sync.Correction+extra)
		u.finish(row, sync.read, h.read)
		return attempted{sent: sent}
	}
}

// negotiate asks for what is not granted or soon no longer is.
func (u *ptpUnicast) negotiate() error {
	now := time.Now()
	if now.Sub(u.asked) < impatience {
		return nil
	}
	var lack []session
	for _, s := range u.wanted {
		if u.until[s.kind].Sub(now) < renewal {
			lack = append(lack, s)
		}
	}
	if lack == nil {
		return nil
	}
	u.asked = now
	return u.signal(lack...)
}

func (u *ptpUnicast) signal(sessions ...session) error {
	u.requests++
	b, err := signaling(u.id, uint8(u.probe.domain), u.requests, sessions...)
	if err != nil {
		return err
	}
	_, err = u.general.WriteTo(b, netip.AddrPortFrom(u.remote, wire.PTPGeneralPort))
	return err
}

func (u *ptpUnicast) grant(m *wire.PTP) {
	for _, s := range granted(m) {
		if s.length == 0 {
			u.denied++
			continue
		}
		u.until[s.kind] = time.Now().Add(s.length)
	}
}

// close ends the sessions that are granted still.
func (u *ptpUnicast) close() error {
	var over []session
	for kind, until := range u.until {
		if time.Now().Before(until) {
			over = append(over, session{kind: kind})
		}
	}
	if over != nil {
		_ = u.signal(over...) // the master ends them by itself if this is lost
	}
	return u.ptpPeer.close()
}

func (s session) String() string { return fmt.Sprintf("%v every 2^%d s", s.kind, s.interval) }
