package probes

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/nic"
	"github.com/tickmark/tickmark/probes/stamp"
)

// ptpPorts are sockets that masters answer to, and the peers that talk to them. One
// goroutine for each socket reads and hands every message to the peer of its sender.
type ptpPorts struct {
	source  datasets.Source // who stamps departures and arrivals
	event   *stamp.Conn     // Delay_Req leaves here
	general *stamp.Conn     // nil where masters answer to the event port
	nic     *hardware       // nil without hardware stamps

	closing chan struct{}
	readers sync.WaitGroup
	sending sync.Mutex // until the stamp of the departure is there: the next would pass over it
	mu      sync.Mutex // of peers
	peers   []*ptpPeer
}

// openPTPPorts opens the ports of PTP, to which a master answers by the standard
// wherever it was asked from, and by which many a NIC tells what to stamp.
func openPTPPorts(p ptpProbe, local, remote netip.Addr, plan Plan) (*ptpPorts, error) {
	ports := &ptpPorts{source: sourceOf(p.stamps), closing: make(chan struct{})}
	if ports.source == datasets.Hardware {
		iface, err := nic.Towards(remote)
		if err != nil {
			return nil, err
		}
		if ports.nic, err = useHardware(iface, plan, nic.RXPTPv2L4Event, nic.RXPTPv2Event, nic.RXAll); err != nil {
			return nil, err
		}
	}
	err := ports.openEvent(netip.AddrPortFrom(local, wire.PTPEventPort), p.stamps == "auto")
	if err == nil {
		ports.general, err = listenPTP(netip.AddrPortFrom(local, wire.PTPGeneralPort))
	}
	if err != nil {
		return nil, errors.Join(err, ports.close())
	}
	ports.read()
	return ports, nil
}

// openAnyPort opens one port that the system chooses.
func openAnyPort(p ptpProbe, local netip.Addr) (*ptpPorts, error) {
	ports := &ptpPorts{source: sourceOf(p.stamps), closing: make(chan struct{})}
	if err := ports.openEvent(netip.AddrPortFrom(local, 0), p.stamps == "auto"); err != nil {
		return nil, errors.Join(err, ports.close())
	}
	ports.read()
	return ports, nil
}

func (p *ptpPorts) openEvent(at netip.AddrPort, anySource bool) (err error) {
	if p.event, err = listenPTP(at); err != nil {
		return err
	}
	err = p.event.StampDepartures(p.source)
	if anySource && errors.Is(err, errors.ErrUnsupported) {
		p.source, err = datasets.User, nil
	}
	return err
}

func listenPTP(at netip.AddrPort) (*stamp.Conn, error) {
	c, err := stamp.Listen(at.String())
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("port %d needs root or a right: setcap cap_net_bind_service+ep on the tickmark binary", at.Port())
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is taken on %s: another PTP program runs here (tickmark probe daemon reads what a ptp4l knows)", at.Port(), at.Addr())
	}
	return c, err
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

func (p *ptpPorts) read() {
	p.readers.Go(func() { p.readFrom(p.event) })
	if p.general != nil {
		p.readers.Go(func() { p.readFrom(p.general) })
	}
}

func (p *ptpPorts) readFrom(c *stamp.Conn) {
	const pause = 10 * time.Millisecond
	buf := make([]byte, largestReply)
	for {
		a, err := c.Read(buf)
		switch {
		case err == nil:
			p.hear(buf[:a.N], &a)
		case errors.Is(err, net.ErrClosed):
			return
		default: // what it is may not pass at once
			select {
			case <-p.closing:
				return
			case <-time.After(pause):
			}
		}
	}
}

// hear hands a message to the peers of its sender; what comes from nobody is a stray of all.
func (p *ptpPorts) hear(b []byte, a *stamp.Arrival) {
	h := ptpHeard{at: a.Wall, read: thisMoment(), waited: a.Waited}
	switch {
	case p.source == datasets.User:
		h.at = h.read.stamp()
	case p.source == datasets.Hardware && a.Wall.Source() != datasets.Hardware:
		h.at = datasets.Stamp{} // the other clocks are not the NIC's
	}
	var err error
	h.PTP, err = wire.DecodePTP(b)
	h.TLVs = append([]byte(nil), h.TLVs...)
	p.mu.Lock()
	defer p.mu.Unlock()
	known := false
	for _, q := range p.peers {
		if a.From.Addr() == q.remote {
			known = true
			q.hear(&h, err == nil)
		}
	}
	if known {
		return
	}
	for _, q := range p.peers {
		q.strays.Add(1)
	}
}

// send sends from the event port and returns when, and the stamp of the departure, which
// may be missing.
func (p *ptpPorts) send(b []byte, to netip.AddrPort) (sent moment, at datasets.Stamp, err error) {
	p.sending.Lock()
	defer p.sending.Unlock()
	sent = thisMoment()
	number, err := p.event.SendTo(b, to)
	switch {
	case err != nil:
		return sent, at, err
	case p.source == datasets.User:
		return sent, sent.stamp(), nil
	}
	if at, err = p.event.Departure(number, time.Now().Add(patience)); err != nil {
		at = datasets.Stamp{}
	}
	return sent, at, nil
}

func (p *ptpPorts) add(q *ptpPeer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peers = append(p.peers, q)
}

// drop returns how many peers are left.
func (p *ptpPorts) drop(q *ptpPeer) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.peers = slices.DeleteFunc(p.peers, func(o *ptpPeer) bool { return o == q })
	return len(p.peers)
}

func (p *ptpPorts) close() error {
	close(p.closing)
	var errs []error
	for _, c := range []*stamp.Conn{p.event, p.general} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	p.readers.Wait()
	return errors.Join(append(errs, p.nic.put())...)
}
