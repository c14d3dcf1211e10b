package probes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/nic"
	"github.com/tickmark/tickmark/probes/stamp"
)

// ptpPeer is our end of the talk with one master: sockets, identity, what was heard.
type ptpPeer struct {
	probe  ptpProbe
	remote netip.Addr
	id     wire.PortID
	number uint16 // of our last Delay_Req

	send     *stamp.Conn // whose departures are stamped
	ears     []*stamp.Conn
	heard    chan ptpHeard
	readers  sync.WaitGroup
	nic      *hardware // nil without hardware stamps
	letGo    func() bool
	announce wire.PTP // the last; its type is Announce once there was one

	strays, overflowed       int64
	departures, arrivalsLost int64 // that had no stamp
}

// ptpHeard is a message with its arrival.
type ptpHeard struct {
	wire.PTP
	at   datasets.Stamp
	read moment
}

// newPTPPeer opens the socket that requests leave from, at a port the system chooses:
// a master answers to its own idea of ports.
func newPTPPeer(ctx context.Context, p ptpProbe, remote netip.Addr, plan Plan) (*ptpPeer, error) {
	local, err := localTowards(remote)
	if err != nil {
		return nil, err
	}
	q := &ptpPeer{probe: p, remote: remote, id: newPortID(), heard: make(chan ptpHeard, 64), letGo: func() bool { return true }}
	if p.source() == datasets.Hardware {
		iface, err := nic.Towards(remote)
		if err != nil {
			return nil, err
		}
		if q.nic, err = useHardware(iface, plan, nic.RXPTPv2L4Event, nic.RXPTPv2Event, nic.RXAll); err != nil {
			return nil, err
		}
	}
	if q.send, err = q.socket(netip.AddrPortFrom(local, 0)); err != nil {
		return nil, errors.Join(err, q.close())
	}
	q.letGo = context.AfterFunc(ctx, func() { q.send.Close() })
	return q, nil
}

// localTowards is the address we have for a host.
func localTowards(remote netip.Addr) (netip.Addr, error) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(remote, wire.PTPEventPort)))
	if err != nil {
		return netip.Addr{}, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// socket opens a socket that stamps what arrives, and what leaves.
func (q *ptpPeer) socket(at netip.AddrPort) (*stamp.Conn, error) {
	c, err := stamp.Listen(at.String())
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("port %d needs root or a right: setcap cap_net_bind_service+ep on the tickmark binary", at.Port())
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is taken on %s: another PTP program runs here (probe daemon ptp4l reads what it knows)", at.Port(), at.Addr())
	case err != nil:
		return nil, err
	}
	if err := c.StampDepartures(q.probe.source()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// listenTo hands what arrives at c to heard, until c is closed.
func (q *ptpPeer) listenTo(c *stamp.Conn) {
	q.ears = append(q.ears, c)
	q.readers.Go(func() {
		buf := make([]byte, largestReply)
		for {
			a, err := c.Read(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				q.hear(buf[:a.N], &a)
			}
		}
	})
}

// hear runs on the readers' goroutines, which share nothing but the channel.
func (q *ptpPeer) hear(b []byte, a *stamp.Arrival) {
	m, err := wire.DecodePTP(b)
	if err != nil || a.From.Addr() != q.remote || int(m.Domain) != q.probe.domain {
		m = wire.PTP{Type: stray}
	}
	m.TLVs = append([]byte(nil), m.TLVs...)
	h := ptpHeard{m, a.Wall, thisMoment()}
	switch want := q.probe.source(); {
	case want == datasets.User:
		h.at = h.read.stamp()
	case want == datasets.Hardware && a.Wall.Source() != datasets.Hardware:
		h.at = datasets.Stamp{} // the other clocks are not the NIC's
	}
	select {
	case q.heard <- h:
	default: // nobody has the time for more
	}
}

// stray marks what is no message of this master in this domain.
const stray = wire.PTPType(0xff)

// next returns what is heard, and false if nothing is until then or ctx is done.
func (q *ptpPeer) next(ctx context.Context, until <-chan time.Time) (ptpHeard, bool) {
	for {
		select {
		case h := <-q.heard:
			if h.Type == stray {
				q.strays++
				continue
			}
			if h.Type == wire.Announce {
				q.announce = h.PTP
			}
			return h, true
		case <-until:
			return ptpHeard{}, false
		case <-ctx.Done():
			return ptpHeard{}, false
		}
	}
}

// ask sends a Delay_Req and returns when.
func (q *ptpPeer) ask(simple bool) (sent moment, packet uint32, size int, err error) {
	q.number++
	b, err := delayReq(q.id, uint8(q.probe.domain), q.number, simple)
	if err != nil {
		return thisMoment(), 0, 0, err
	}
	sent = thisMoment()
	packet, err = q.send.SendTo(b, netip.AddrPortFrom(q.remote, wire.PTPEventPort))
	return sent, packet, len(b), err
}

// departed is T1. The user's stamp stands in for one that the kernel did not give; for
// the NIC's, which is of another clock, nothing does.
func (q *ptpPeer) departed(sent moment, packet uint32) datasets.Stamp {
	if q.probe.source() == datasets.User {
		return sent.stamp()
	}
	at, err := q.send.Departure(packet, time.Now().Add(patience))
	if err == nil {
		return at
	}
	q.departures++
	if q.probe.source() == datasets.Hardware {
		return datasets.Stamp{}
	}
	return sent.stamp()
}

// master is a time of the master's.
func (q *ptpPeer) master(t wire.PTPTime) datasets.Stamp {
	ns, ok := t.UnixNanos()
	if !ok {
		return datasets.Stamp{}
	}
	return datasets.NewStamp(ns, datasets.Remote, sourceOf(q.probe.server))
}

// finish fills in what the announcements tell and judges the row, whose messages were
// read between from and to.
func (q *ptpPeer) finish(row *datasets.Exchange, from, to moment) {
	if _, stamped := row.T4.UnixNanos(); !stamped {
		q.arrivalsLost++
	}
	row.UTCOffset = q.utcOffset()
	if q.announce.Type == wire.Announce {
		row.Reference = q.announce.Announcement.Grandmaster.String()
		if a, ok := accuracyOf(&q.announce.Announcement); ok {
			row.RootDispersion = datasets.Some(a)
		}
	}
	row.Outcome, row.Copies = datasets.Replied, 1
	if row.Why = stepBetween(from, to); row.Why == "" {
		if delay, ok := row.Delay(); ok && delay < 0 {
			row.Why = fmt.Sprintf("the path delay is negative (%v): a clock stepped or a stamp lies", delay/2)
		}
	}
	if row.Why != "" {
		row.Outcome, row.Copies = datasets.Invalid, 0
	}
}

// utcOffset is what the option and the announcements make of the master's timescale.
func (q *ptpPeer) utcOffset() datasets.Optional[time.Duration] {
	if _, fixed := q.probe.fixed.Value(); fixed {
		return q.probe.fixed
	}
	told := q.announce.Type == wire.Announce
	if told && (q.probe.utc == "announced" || q.announce.Flags.Has(wire.FlagUTCOffsetValid)) {
		return datasets.Some(q.announce.Announcement.UTCOffset)
	}
	return datasets.Optional[time.Duration]{}
}

// correction is what the network says a message was held up by.
func correction(c wire.Correction) datasets.Optional[time.Duration] {
	d, ok := c.Duration()
	if !ok || d == 0 {
		return datasets.Optional[time.Duration]{}
	}
	return datasets.Some(d)
}

func (q *ptpPeer) facts(mode string) []datasets.Field {
	own, server := q.probe.source().String(), sourceOf(q.probe.server).String()
	facts := []datasets.Field{
		{Key: "mode", Value: mode},
		{Key: "local", Value: q.send.LocalAddr().String()},
		{Key: datasets.KeyStamps, Value: fmt.Sprintf("t1=%s t2,t3=%s t4=%s", own, server, own)},
	}
	if q.nic != nil {
		return append(append(facts, datasets.Field{Key: "local-clock", Value: q.nic.clock}), q.nic.facts...)
	}
	return append(facts, datasets.Field{Key: "local-clock", Value: "CLOCK_REALTIME"}, duration(datasets.KeyPrecision, clockPrecision()))
}

func (q *ptpPeer) trailer() []datasets.Field {
	fields := []datasets.Field{count("strays", q.strays), count("t1-missing", q.departures), count("t4-missing", q.arrivalsLost)}
	if q.announce.Type != wire.Announce {
		return append(fields, datasets.Field{Key: "announced", Value: "nothing"})
	}
	a := &q.announce.Announcement
	valid := "not valid"
	if q.announce.Flags.Has(wire.FlagUTCOffsetValid) {
		valid = "valid"
	}
	return append(fields,
		datasets.Field{Key: "grandmaster", Value: a.Grandmaster.String()},
		datasets.Field{Key: "announced", Value: fmt.Sprintf("class %d, accuracy 0x%02x, %d steps removed, UTC offset %s (%s)",
			a.Class, a.Accuracy, a.StepsRemoved, a.UTCOffset, valid)})
}

func (q *ptpPeer) close() error {
	var errs []error
	if q.send != nil && q.letGo() {
		errs = append(errs, q.send.Close())
	}
	for _, c := range q.ears {
		if c != q.send {
			errs = append(errs, c.Close())
		}
	}
	q.readers.Wait()
	return errors.Join(append(errs, q.nic.put())...)
}

func (q *ptpPeer) keep(row *datasets.Exchange, record func(*datasets.Exchange) error) error {
	return record(row)
}

func (q *ptpPeer) flush(func(*datasets.Exchange) error) error { return nil }
