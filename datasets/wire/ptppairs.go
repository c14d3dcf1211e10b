package wire

import (
	"fmt"
	"time"
)

// PTPKind tells how an exchange was measured.
type PTPKind uint8

// The ways of PTP to compare two clocks.
const (
	OneWay     PTPKind = iota // a Sync alone: T3 and T4
	EndToEnd                  // Sync and Delay_Req
	PeerToPeer                // Pdelay_Req and Pdelay_Resp, over one link
	Simple                    // SPTP: a Delay_Req answered by Sync and Announce
)

func (k PTPKind) String() string {
	switch k {
	case OneWay:
		return "one-way"
	case EndToEnd:
		return "end-to-end"
	case PeerToPeer:
		return "peer-to-peer"
	case Simple:
		return "simple"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// PTPExchange is what a client learns of a server's clock, seen by a capture. T2 and
// T3 are in the timescale of the server.
type PTPExchange struct {
	Kind      PTPKind
	Interface int
	SdoID     uint16
	Domain    uint8
	Sequence  uint16 // of the Sync if one-way, else of the client's request
	Server    PortID // master or responder
	Client    PortID // who asked; nobody if one-way

	T1 Stamp // the request passed the capture
	T2 Stamp // it arrived, by the server
	T3 Stamp // the Sync or Pdelay_Resp left, by the server
	T4 Stamp // it passed the capture

	// What the network says to take off T2−T1 and T4−T3 (IEEE 1588-2019 §11.3, §11.4).
	// A responder that tells T3−T2 alone, not the two, has it in CorrectionBack.
	CorrectionOut, CorrectionBack Correction

	// The server's last Announce, if there was one.
	Announced     bool
	AnnounceFlags PTPFlags
	Announcement  Announcement
}

// PTPCounts is what became of the messages of PTP.
type PTPCounts struct {
	Messages  int
	Other     int // Signaling, Management: nothing to pair
	Unstamped int // left out: the capture has no time for them
	Repeated  int // left out: seen before

	OneWay, EndToEnd, PeerToPeer, Simple int // exchanges

	SyncWithoutFollowUp    int
	FollowUpWithoutSync    int
	DelayReqWithoutResp    int
	DelayRespWithoutReq    int
	DelayWithoutSync       int // Delay_Req and Delay_Resp, but no Sync of that master by then
	PdelayReqWithoutResp   int
	PdelayRespWithoutReq   int // or a Pdelay_Resp_Follow_Up without
	PdelayRespWithoutOther int // of Pdelay_Resp and its Follow_Up one is missing
	SimpleReqWithoutResp   int // Sync, Announce or both are missing

	Ambiguous int // two messages of one number: which one is the other half for?
	Unset     int // whole, but the server's stamp is zero or can be none
	Strangers int // a second one answers a Pdelay_Req
}

// PTPPairs finds the exchanges in a stream of messages in about the order of their
// time, by port identity, number and domain. Broken order, copies and numbers that
// begin anew do no harm, and it never holds more than a bounded number of messages.
type PTPPairs struct {
	// Emit is given each exchange as soon as it is complete. It must not keep it.
	Emit func(*PTPExchange)
	// Horizon is how long a message waits for its other half; 0 is 20 s. Numbers have 16
	// bits and must not begin anew within it: they may grow by 3276 a second.
	Horizon time.Duration

	counts    PTPCounts
	syncs     pending[ptpKey, syncPair]
	legs      pending[ptpKey, syncLeg] // the last Sync of each master, whole
	delays    pending[ptpKey, delayPair]
	peers     pending[ptpKey, peerPair]
	simple    pending[simpleKey, simplePair]
	announces pending[ptpKey, PTP]
	out       PTPExchange
}

// ptpKey is what two messages have in common that belong together.
type ptpKey struct {
	at     int // interface
	sdo    uint16
	domain uint8
	number uint16
	port   PortID  // whose numbers they are
	peer   station // whom they are for, or who answers; zero is everybody
}

func ptpKeyOf(c *Packet, m *PTP, port PortID, peer station) ptpKey {
	return ptpKey{c.Interface, m.SdoID, m.Domain, m.Sequence, port, peer}
}

// master returns the key of what is known of a master, not of one message.
func (k ptpKey) master(port PortID, client station) ptpKey {
	k.number, k.port, k.peer = 0, port, client
	return k
}

// findOrAdd returns what waits under the key, or something new.
func findOrAdd[V any](p *pending[ptpKey, V], key ptpKey, now int64) *V {
	if v := p.find(key, now); v != nil {
		return v
	}
	return p.add(key, now)
}

// findAnswered returns the exchange that a message answers. The request went to its
// sender or to everybody; if it is still to come, the answer tells by going the same
// way.
func findAnswered[V any](p *pending[ptpKey, V], c *Packet, m *PTP) *V {
	one, all := ptpKeyOf(c, m, m.Requesting, from(c)), ptpKeyOf(c, m, m.Requesting, station{})
	if to(c) == all.peer {
		one, all = all, one
	}
	if v := p.find(one, c.UnixNanos); v != nil {
		return v
	}
	if v := p.find(all, c.UnixNanos); v != nil {
		return v
	}
	return p.add(one, c.UnixNanos)
}

// Add takes a message.
func (p *PTPPairs) Add(c *Packet, m *PTP) {
	p.prepare()
	p.counts.Messages++
	if !c.Stamped {
		p.counts.Unstamped++
		return
	}
	switch m.Type {
	case Sync:
		if !p.simpleSync(c, m) {
			p.sync(c, m)
		}
	case FollowUp:
		p.followUp(c, m)
	case DelayReq:
		if !p.simpleReq(c, m) {
			p.delayReq(c, m)
		}
	case DelayResp:
		p.delayResp(c, m)
	case PdelayReq:
		p.pdelayReq(c, m)
	case PdelayResp, PdelayRespFollowUp:
		p.pdelayResp(c, m)
	case Announce:
		p.announce(c, m)
		p.simpleAnnounce(c, m)
	default:
		p.counts.Other++
	}
}

// Close counts what is still waiting as missing its other half.
func (p *PTPPairs) Close() {
	p.prepare()
	p.syncs.clear()
	p.legs.clear()
	p.delays.clear()
	p.peers.clear()
	p.simple.clear()
	p.announces.clear()
}

// Counts returns what became of the messages so far.
func (p *PTPPairs) Counts() PTPCounts { return p.counts }

func (p *PTPPairs) prepare() {
	if p.syncs.drop != nil {
		return
	}
	const horizon = 20 * time.Second
	if p.Horizon == 0 {
		p.Horizon = horizon
	}
	p.syncs.drop, p.syncs.horizon = p.dropSync, p.Horizon
	p.legs.drop, p.legs.horizon = func(*syncLeg) {}, p.Horizon
	p.delays.drop, p.delays.horizon = p.dropDelay, p.Horizon
	p.peers.drop, p.peers.horizon = p.dropPeer, p.Horizon
	p.simple.drop, p.simple.horizon = p.dropSimple, p.Horizon
	p.announces.drop = func(*PTP) {} // what was announced holds until something else is
}

// announce remembers what a master says of itself.
func (p *PTPPairs) announce(c *Packet, m *PTP) {
	last := findOrAdd(&p.announces, ptpKeyOf(c, m, m.Source, station{}).master(m.Source, station{}), c.UnixNanos)
	*last = *m
	last.TLVs = nil
}

// begin makes p.out an exchange with the server.
func (p *PTPPairs) begin(kind PTPKind, c *Packet, m *PTP, server PortID) *PTPExchange {
	p.out = PTPExchange{Kind: kind, Interface: c.Interface, SdoID: m.SdoID, Domain: m.Domain, Sequence: m.Sequence, Server: server}
	key := ptpKeyOf(c, m, server, station{}).master(server, station{})
	if a := p.announces.find(key, c.UnixNanos); a != nil {
		p.out.Announced, p.out.AnnounceFlags, p.out.Announcement = true, a.Flags, a.Announcement
	}
	return &p.out
}

// event is a message that the capture stamps.
type event struct {
	at         Stamp
	correction Correction
	ambiguous  bool
}

// take sets the event, unless it is there: then this one is a copy.
func (e *event) take(p *PTPPairs, c *Packet, m *PTP) bool {
	at := stampOf(c.UnixNanos, c.Stamped)
	if e.at.Set {
		p.counts.Repeated++
		e.ambiguous = e.ambiguous || apart(e.at, at)
		return false
	}
	*e = event{at: at, correction: m.Correction}
	return true
}

// remark is a message that carries a stamp of the server's.
type remark struct {
	set        bool
	stamp      PTPTime
	correction Correction
	ambiguous  bool
}

func (r *remark) take(p *PTPPairs, m *PTP) bool {
	if r.set {
		p.counts.Repeated++
		r.ambiguous = r.ambiguous || r.stamp != m.Timestamp || r.correction != m.Correction
		return false
	}
	*r = remark{set: true, stamp: m.Timestamp, correction: m.Correction}
	return true
}
