package probes

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ptpPeer is our end of the talk with one master: identity, numbers, what was heard.
// The readers of its ports call hear; all else is done by the caller of next.
type ptpPeer struct {
	probe  ptpProbe
	remote netip.Addr
	id     wire.PortID
	number uint16 // of our last Delay_Req
	ports  *ptpPorts
	heard  chan ptpHeard
	timer  *time.Timer

	announce                         ptpHeard // the last of the master
	strays, unread                   atomic.Int64
	departuresMissed, arrivalsMissed int64 // that had no stamp
}

// ptpHeard is a message with its arrival.
type ptpHeard struct {
	wire.PTP
	at     datasets.Stamp
	read   moment
	waited time.Duration // from the one to the other, as far as known
}

// heardAtOnce is how many messages wait for an attempt; more are not read.
const heardAtOnce = 256

// newPTPPeer returns a peer that talks through PTP's own ports, or through any one.
func newPTPPeer(p ptpProbe, remote netip.Addr, plan Plan, anyPort bool) (*ptpPeer, error) {
	local, err := localTowards(remote)
	if err != nil {
		return nil, err
	}
	q := &ptpPeer{probe: p, remote: remote, id: newPortID(), heard: make(chan ptpHeard, heardAtOnce)}
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails: the program would have ended
	q.number = binary.BigEndian.Uint16(b[:])
	if !anyPort {
		q.ports, err = p.shared.join(q, local, plan)
		return q, err
	}
	q.id.Port = repliesToSender
	if q.ports, err = openAnyPort(p, local); err == nil {
		q.ports.add(q)
	}
	return q, err
}

// hear takes a message from the master's address; it runs on the goroutines of readers.
func (q *ptpPeer) hear(h *ptpHeard, sound bool) {
	if !sound || int(h.Domain) != q.probe.domain || h.SdoID != 0 || h.Source == q.id {
		q.strays.Add(1)
		return
	}
	select {
	case q.heard <- *h:
	default:
		q.unread.Add(1)
	}
}

// next returns what is heard, and false if that is nothing until then or ctx is done.
func (q *ptpPeer) next(ctx context.Context, until time.Time) (ptpHeard, bool) {
	if q.timer == nil {
		q.timer = time.NewTimer(time.Until(until))
	} else {
		q.timer.Reset(time.Until(until))
	}
	defer q.timer.Stop()
	select {
	case h := <-q.heard:
		return h, true
	case <-q.timer.C:
	case <-ctx.Done():
	}
	return ptpHeard{}, false
}

// drain hands what was heard before to take: an exchange is of what comes after.
func (q *ptpPeer) drain(take func(*ptpHeard)) {
	for range len(q.heard) {
		h := <-q.heard
		take(&h)
	}
}

// ptpAsked is a Delay_Req that was sent.
type ptpAsked struct {
	sent moment
	t1   datasets.Stamp
	size int
}

// ask sends a Delay_Req. Of the departure's stamp the user's stands in for one that the
// kernel did not give; for the NIC's, which is of another clock, nothing does.
func (q *ptpPeer) ask(simple bool) (a ptpAsked, err error) {
	q.number++
	b, err := delayReq(q.id, uint8(q.probe.domain), q.number, simple)
	if err != nil {
		return ptpAsked{sent: thisMoment()}, err
	}
	a.size = len(b)
	if a.sent, a.t1, err = q.ports.send(b, netip.AddrPortFrom(q.remote, wire.PTPEventPort)); err != nil {
		return a, err
	}
	if _, stamped := a.t1.UnixNanos(); !stamped {
		q.departuresMissed++
		if q.ports.source != datasets.Hardware {
			a.t1 = a.sent.stamp()
		}
	}
	return a, nil
}

func (q *ptpPeer) close() error { return q.probe.shared.leave(q) }

func (q *ptpPeer) keep(row *datasets.Exchange, record func(*datasets.Exchange) error) error {
	return record(row)
}

func (q *ptpPeer) flush(func(*datasets.Exchange) error) error { return nil }
