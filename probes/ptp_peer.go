package probes

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/nic"
	"github.com/tickmark/tickmark/probes/stamp"
)

// ptpPeer is our end of the talk with one master: sockets, identity, what was heard.
// One goroutine for each socket reads; all else is done by the caller of next.
type ptpPeer struct {
	probe  ptpProbe
	source datasets.Source // who stamps T1 and T4
	remote netip.Addr
	id     wire.PortID
	number uint16 // of our last Delay_Req

	event   *stamp.Conn // Delay_Req leaves here
	ears    []*stamp.Conn
	readers sync.WaitGroup
	closing chan struct{}
	heard   chan ptpHeard
	timer   *time.Timer
	nic     *hardware // nil without hardware stamps

	announce                         ptpHeard // the last
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

func newPTPPeer(p ptpProbe, remote netip.Addr, plan Plan) (*ptpPeer, error) {
	q := &ptpPeer{
		probe: p, source: sourceOf(p.stamps), remote: remote, id: newPortID(),
		heard: make(chan ptpHeard, heardAtOnce), closing: make(chan struct{}),
	}
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails: the program would have ended
	q.number = binary.BigEndian.Uint16(b[:])
	if q.source == datasets.Hardware {
		iface, err := nic.Towards(remote)
		if err != nil {
			return nil, err
		}
		if q.nic, err = useHardware(iface, plan, nic.RXPTPv2L4Event, nic.RXPTPv2Event, nic.RXAll); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// usePorts opens the ports of PTP, to which a master answers by the standard wherever
// it was asked from, and by which many a NIC tells what to stamp.
func (q *ptpPeer) usePorts() error {
	if err := q.useEvent(wire.PTPEventPort); err != nil {
		return err
	}
	_, err := q.listenAt(netip.AddrPortFrom(q.event.LocalAddr().Addr(), wire.PTPGeneralPort))
	return err
}

// useEvent opens the port that Delay_Req leaves from; 0 is any.
func (q *ptpPeer) useEvent(port uint16) error {
	local, err := localTowards(q.remote)
	if err != nil {
		return err
	}
	if q.event, err = q.listenAt(netip.AddrPortFrom(local, port)); err != nil {
		return err
	}
	err = q.event.StampDepartures(q.source)
	if q.probe.stamps == "auto" && errors.Is(err, errors.ErrUnsupported) {
		q.source, err = datasets.User, nil
	}
	return err
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

// listenAt opens a socket whose messages are heard once listen is called.
func (q *ptpPeer) listenAt(at netip.AddrPort) (*stamp.Conn, error) {
	c, err := stamp.Listen(at.String())
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("port %d needs root or a right: setcap cap_net_bind_service+ep on the tickmark binary", at.Port())
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is taken on %s: another PTP program runs here, or another target of ours (tickmark probe daemon reads what a ptp4l knows)", at.Port(), at.Addr())
	case err != nil:
		return nil, err
	}
	q.ears = append(q.ears, c)
	return c, nil
}

// listen begins to read all sockets.
func (q *ptpPeer) listen() {
	for _, c := range q.ears {
		q.readers.Go(func() { q.readFrom(c) })
	}
}

func (q *ptpPeer) readFrom(c *stamp.Conn) {
	const pause = 10 * time.Millisecond
	buf := make([]byte, largestReply)
	for {
		a, err := c.Read(buf)
		switch {
		case err == nil:
			q.hear(buf[:a.N], &a)
		case errors.Is(err, net.ErrClosed):
			return
		default: // what it is may not pass at once
			select {
			case <-q.closing:
				return
			case <-time.After(pause):
			}
		}
	}
}

// hear runs on the readers' goroutines, which share counters and the channel.
func (q *ptpPeer) hear(b []byte, a *stamp.Arrival) {
	m, err := wire.DecodePTP(b)
	if err != nil || a.From.Addr() != q.remote || int(m.Domain) != q.probe.domain || m.SdoID != 0 || m.Source == q.id {
		q.strays.Add(1)
		return
	}
	m.TLVs = append([]byte(nil), m.TLVs...)
	h := ptpHeard{m, a.Wall, thisMoment(), a.Waited}
	switch {
	case q.source == datasets.User:
		h.at = h.read.stamp()
	case q.source == datasets.Hardware && a.Wall.Source() != datasets.Hardware:
		h.at = datasets.Stamp{} // the other clocks are not the NIC's
	}
	select {
	case q.heard <- h:
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
		if h.Type == wire.Announce {
			q.announce = h
		}
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
		if h.Type == wire.Announce {
			q.announce = h
		}
		take(&h)
	}
}

// ask sends a Delay_Req and returns when, and by which number its departure is known.
func (q *ptpPeer) ask(simple bool) (sent moment, packet uint32, size int, err error) {
	q.number++
	b, err := delayReq(q.id, uint8(q.probe.domain), q.number, simple)
	if err != nil {
		return thisMoment(), 0, 0, err
	}
	sent = thisMoment()
	packet, err = q.event.SendTo(b, netip.AddrPortFrom(q.remote, wire.PTPEventPort))
	return sent, packet, len(b), err
}

func (q *ptpPeer) close() error {
	close(q.closing)
	var errs []error
	for _, c := range q.ears {
		errs = append(errs, c.Close())
	}
	q.readers.Wait()
	return errors.Join(append(errs, q.nic.put())...)
}

func (q *ptpPeer) keep(row *datasets.Exchange, record func(*datasets.Exchange) error) error {
	return record(row)
}

func (q *ptpPeer) flush(func(*datasets.Exchange) error) error { return nil }
