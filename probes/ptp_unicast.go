package probes

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"strings"
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
	requests uint16   // signaling messages sent
	sync     ptpHeard // the last one
	followUp ptpHeard // likewise
	whole    bool     // there is a time stamp for sync
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
	var asked []string
	for _, s := range u.wanted {
		asked = append(asked, s.String())
	}
	return append(u.ptpPeer.trailer(), count("denied", u.denied), datasets.Field{Key: "sessions", Value: strings.Join(asked, ", ")})
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
	u.sync, u.followUp, u.whole = ptpHeard{}, ptpHeard{}, false
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

// take keeps a Sync and what completes it, in whatever order the two sockets hand them
// over. A grant is noted.
func (u *ptpUnicast) take(h *ptpHeard) {
	switch h.Type {
	case wire.Signaling:
		u.grant(&h.PTP)
	case wire.Sync:
		u.sync = *h
	case wire.FollowUp:
		u.followUp = *h
	default:
		return
	}
	sync, f := &u.sync, &u.followUp
	u.whole = !sync.read.isZero() && (!sync.Flags.Has(wire.FlagTwoStep) ||
		!f.read.isZero() && f.Sequence == sync.Sequence && f.Source == sync.Source)
}

// origin is when the Sync left, and what it was held up by.
func (u *ptpUnicast) origin() (at wire.PTPTime, held wire.Correction) {
	if u.sync.Flags.Has(wire.FlagTwoStep) {
		return u.followUp.Timestamp, u.sync.Correction + u.followUp.Correction
	}
	return u.sync.Timestamp, u.sync.Correction
}

// ask1 sends the Delay_Req and waits for its Delay_Resp.
func (u *ptpUnicast) ask1(ctx context.Context, until <-chan time.Time, row *datasets.Exchange) attempted {
	sync := u.sync
	origin, held := u.origin()
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
		row.CorrectionOut, row.CorrectionBack = correction(h.Correction), correction(held)
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
			u.relax(s.kind)
			continue
		}
		u.until[s.kind] = time.Now().Add(s.length)
	}
}

// relax asks for half as many messages of a kind that was denied.
func (u *ptpUnicast) relax(kind wire.PTPType) {
	const slowest = 4
	for i := range u.wanted {
		if w := &u.wanted[i]; w.kind == kind && w.interval < slowest {
			w.interval++
			u.asked = time.Time{}
		}
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
