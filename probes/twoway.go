package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/stamp"
	"github.com/tickmark/tickmark/probes/twoway"
)

// twoWay is a Session-Sender of STAMP (RFC 8762): it measures round trips to a reflector,
// of a router or of tickmark, as udp does to tickmark's echo.
type twoWay struct {
	size, ssid, ttl           int
	format, keyFile, reflects string
	stamps                    datasets.Source // of departures
	arrivals                  arrivals
}

// How a reflector numbers its packets; which of the two may be left to be found out.
const (
	unsaid    = "auto"
	stateless = "stateless"
	stateful  = "stateful"
)

func bindTwoWay(fs *flag.FlagSet) func() (Probe, error) {
	p := twoWay{}
	fs.IntVar(&p.size, "size", 0, "`bytes` of a packet, both ways: the more are an Extra Padding TLV (0 is the least: 44, with a key 112)")
	fs.IntVar(&p.ssid, "ssid", 0, "session `identifier`, 1 to 65535 (0 draws one)")
	fs.IntVar(&p.ttl, "ttl", 255, "TTL or hop limit of what is sent, `hops`: less what arrived, it is the length of the way")
	fs.StringVar(&p.format, "format", twoway.NTP, "of the times we send: `ntp` or ptp")
	fs.StringVar(&p.keyFile, "key", "", "`file` with the key of the authenticated mode")
	fs.StringVar(&p.reflects, "reflector", unsaid, "how it numbers packets: stateful, stateless or `auto`; only a stateful one tells which way loses")
	stamps := fs.String("stamps", datasets.Kernel.String(), "who stamps departures: `kernel`, where it can, or user")
	arrivals := bindArrivals(fs)
	return func() (Probe, error) {
		var err error
		if p.arrivals, err = arrivals(); err == nil {
			err = p.check(*stamps)
		}
		return p, err
	}
}

func (p *twoWay) check(stamps string) error {
	least := wire.NewSTAMP([]byte(p.keyFile)).Size() // of the mode, whatever the key
	if p.size == 0 {
		p.size = least
	}
	if stamps == datasets.Kernel.String() {
		p.stamps = datasets.Kernel
	}
	switch {
	case p.size != least && (p.size < least+wire.STAMPTLVSize || p.size > largestUDP):
		return fmt.Errorf("size %d: want %d, or %d to %d", p.size, least, least+wire.STAMPTLVSize, largestUDP)
	case p.ssid < 0 || p.ssid > 1<<16-1:
		return fmt.Errorf("ssid %d: want 1 to 65535, or 0", p.ssid)
	case p.ttl < 1 || p.ttl > 255:
		return fmt.Errorf("ttl %d: want 1 to 255", p.ttl)
	}
	return p.checkWords(stamps)
}

func (p *twoWay) checkWords(stamps string) error {
	_, err := twoway.NewClock(p.format)
	switch {
	case err != nil:
		return err
	case !slices.Contains([]string{unsaid, stateless, stateful}, p.reflects):
		return fmt.Errorf("reflector %q: want %s, %s or %s", p.reflects, unsaid, stateless, stateful)
	case stamps != datasets.Kernel.String() && stamps != datasets.User.String():
		return fmt.Errorf("stamps %q: want kernel or user", stamps)
	}
	return nil
}

// Kind returns RTT.
func (twoWay) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host or host:port; the port is 862 by default.
func (twoWay) TakesTarget() bool { return true }

// Run sends as the plan's schedule says, one packet every 10 ms by default, and listens
// 2 s for each answer.
func (p twoWay) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	listen, err := listenFor(plan, 2*time.Second)
	if err != nil {
		return err
	}
	s, err := newSchedule(plan, 10*time.Millisecond)
	if err != nil {
		return err
	}
	s.arrivals = p.arrivals
	remote, err := remoteOf(ctx, target, wire.STAMPPort, "ip", listen)
	if err != nil {
		return err
	}
	session := rand.Uint64()
	f := &flight{schedule: s, deadlines: deadlines{plan.Deadline, listen}, cells: twoWayCells, payload: p.size, departures: true}
	f.open = newInflight(session, echoSize, s.interval, listen)
	link, facts, err := p.dial(remote, session, len(f.open.ring))
	if err != nil {
		return fmt.Errorf("stamp: %w", err)
	}
	defer link.Close()
	f.epoch = time.Now().Add(lead)
	h := newHeader(datasets.RTT, target, remote.String(), f.epoch, plan)
	setPlan(h, s, f.deadlines, listen)
	setFacts(h, pollTimerFact())
	setFacts(h, pathFacts(remote.Addr())...)
	h.Set(datasets.KeyStamps, "user")
	setFacts(h, facts...)
	h.Extra = twoWayColumns()
	if err := rec.Begin(h); err != nil {
		return err
	}
	f.conn, f.tail, f.open.epoch = link, link.told.fields, f.epoch.UnixNano()
	f.sent.interval = s.interval
	return f.run(ctx, rec)
}

// dial opens a session, and says what the header should know of it.
func (p *twoWay) dial(remote netip.AddrPort, session uint64, room int) (*twoWayLink, []datasets.Field, error) {
	var key []byte
	var err error
	if p.keyFile != "" {
		if key, err = twoway.Key(p.keyFile); err != nil {
			return nil, nil, err
		}
	}
	clock, err := twoway.NewClock(p.format)
	if err != nil {
		return nil, nil, err
	}
	conn, err := stamp.Dial(netip.AddrPort{}, remote)
	if err != nil {
		return nil, nil, err
	}
	ssid := uint16(p.ssid)
	if ssid == 0 {
		ssid = uint16(1 + rand.N(1<<16-1))
	}
	l := newTwoWayLink(conn, wire.NewSTAMP(key), clock, p.size, room)
	l.session, l.ssid, l.told.mode = session, ssid, p.reflects
	facts := []datasets.Field{{Key: "ssid", Value: fmt.Sprint(ssid)}, {Key: "t1-stamps", Value: datasets.User.String()}}
	if conn.KernelStamps() {
		facts = append(facts, datasets.Field{Key: "stall-stamps", Value: "kernel"}, datasets.Field{Key: "t4-stamps", Value: "kernel"})
	}
	if p.stamps == datasets.Kernel {
		refused := conn.StampDepartures(datasets.Kernel)
		l.kernel = refused == nil
		if l.kernel {
			facts[1] = departureFact(nil)
		}
	}
	if err := conn.SetTTL(uint8(p.ttl)); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, nil, errors.Join(err, conn.Close())
	} else if err == nil {
		facts = append(facts, datasets.Field{Key: "ttl", Value: fmt.Sprint(p.ttl)})
	}
	return l, facts, nil
}
