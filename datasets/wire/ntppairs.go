package wire

import "net/netip"

// NTPExchange is a request and its reply, seen by a capture.
type NTPExchange struct {
	Client, Server netip.AddrPort
	Interface      int

	T1 Stamp // the request passed the capture
	T2 Stamp // it arrived, by the server
	T3 Stamp // the reply left, by the server
	T4 Stamp // it passed the capture

	// Interleaved tells that T3 was taken when the reply was sent and came with the
	// next one (RFC 9769): Reply is that next one.
	Interleaved bool
	Reply       NTP // what the server says of itself; without Fields, MAC and Rest
}

// NTPCounts is what became of the packets of NTP.
//
// Requests are Answered, Repeated, Nameless, Unanswered or still waiting; Replies are
// Answers, Repeated, Unasked or still waiting. A packet of two peers can be both.
type NTPCounts struct {
	Requests, Replies int
	Other             int // broadcasts, and modes that have no reply

	Basic       int // exchanges
	Interleaved int // exchanges

	Answered   int
	Unanswered int // requests
	Unasked    int // replies
	Nameless   int // requests without a transmit stamp, which nothing tells apart

	RepeatedRequests int // another of the same transmit stamp
	RepeatedReplies  int

	Ambiguous  int // answered, but which of two requests? No exchange is made of it
	Unfinished int // interleaved, but the departure never came: no exchange
}

// NTPPairs finds the exchanges in a stream of packets in about the order of their
// time, by addresses and origin stamp. Broken order and copies do no harm, and it
// never holds more than a bounded number of packets. It relies on transmit stamps that
// do not come again, and if interleaved on receive stamps that do not (chrony fills
// them up with random bits); where it sees one twice it makes no exchange of it.
type NTPPairs struct {
	// Emit is given each exchange as soon as it is complete. It must not keep it.
	Emit func(*NTPExchange)

	counts   NTPCounts
	requests pending[ntpKey, ntpRequest] // by transmit stamp
	asked    pending[ntpKey, ntpAsked]   // of interleaved requests, by receive stamp
	early    pending[ntpKey, ntpEarly]   // replies, by origin stamp
	replied  pending[ntpKey, ntpReplied] // by the stamp of the request's arrival
	out      NTPExchange
}

// ntpKey is a stamp between two stations.
type ntpKey struct {
	at             int // interface
	client, server netip.AddrPort
	stamp          NTPTime
}

type ntpRequest struct {
	t1        Stamp
	origin    NTPTime // if interleaved, when the request before arrived
	ambiguous bool    // two of them are under way
	answered  bool
}

// ntpAsked names the request that a receive stamp stands in.
type ntpAsked struct {
	transmit NTPTime
	origin   NTPTime
	several  bool    // it stands in more than one
	mixed    bool    // and they do not go back to the same exchange
	arrival  NTPTime // by the reply, once it is there
}

type ntpEarly struct {
	t4      Stamp
	reply   NTP
	matched bool
}

type ntpReplied struct {
	client    netip.AddrPort
	t1, t4    Stamp
	ambiguous bool
	open      bool // only the next reply tells when it left
	closed    bool // it did
}

// Add takes a packet.
func (p *NTPPairs) Add(c *Packet, n *NTP) {
	p.prepare()
	symmetric := n.Mode == ModeActive || n.Mode == ModePassive
	if n.Mode == ModeServer || symmetric && !n.Origin.IsZero() {
		p.counts.Replies++
		p.reply(ntpKey{c.Interface, c.Dst, c.Src, n.Origin}, stampOf(c.UnixNanos, c.Stamped), n, symmetric)
	}
	switch {
	case n.Mode == ModeClient || symmetric:
		p.counts.Requests++
		p.request(ntpKey{c.Interface, c.Src, c.Dst, n.Transmit}, stampOf(c.UnixNanos, c.Stamped), n, symmetric)
	case n.Mode != ModeServer:
		p.counts.Other++
	}
}

// Close counts what is still waiting as unanswered and unasked.
func (p *NTPPairs) Close() {
	p.prepare()
	p.requests.clear()
	p.asked.clear()
	p.early.clear()
	p.replied.clear()
}

// Counts returns what became of the packets so far.
func (p *NTPPairs) Counts() NTPCounts { return p.counts }

func (p *NTPPairs) prepare() {
	if p.requests.drop != nil {
		return
	}
	p.requests.drop = func(r *ntpRequest) {
		if !r.answered {
			p.counts.Unanswered++
		}
	}
	p.asked.drop = func(*ntpAsked) {}
	p.early.drop = func(e *ntpEarly) {
		if !e.matched {
			p.counts.Unasked++
		}
	}
	p.replied.drop = func(r *ntpReplied) {
		if r.open {
			p.counts.Unfinished++
		}
	}
}

func (p *NTPPairs) request(key ntpKey, t1 Stamp, n *NTP, symmetric bool) {
	now := t1.UnixNanos
	if key.stamp.IsZero() {
		p.counts.Nameless++
		return
	}
	if r := p.requests.find(key, now); r != nil {
		p.counts.RepeatedRequests++
		r.ambiguous = r.ambiguous || apart(r.t1, t1)
		return
	}
	*p.requests.add(key, now) = ntpRequest{t1: t1, origin: n.Origin}
	if interleaved := key.of(n.Receive); !symmetric && !n.Receive.IsZero() {
		p.ask(interleaved, n, now)
		p.comeEarly(interleaved, now, symmetric)
	}
	p.comeEarly(key, now, symmetric)
}

// ask files a request under its receive stamp, which should be its own. If it is not,
// nobody can say which request is answered, or was.
func (p *NTPPairs) ask(key ntpKey, n *NTP, now int64) {
	a := p.asked.find(key, now)
	if a == nil {
		*p.asked.add(key, now) = ntpAsked{transmit: n.Transmit, origin: n.Origin}
		return
	}
	a.transmit, a.several, a.mixed = n.Transmit, true, a.mixed || a.origin != n.Origin
	if r := p.replied.find(key.arrived(a.arrival), now); r != nil {
		r.ambiguous = true
	}
}

// comeEarly takes up a reply that the capture has before its request.
func (p *NTPPairs) comeEarly(key ntpKey, now int64, symmetric bool) {
	if e := p.early.find(key, now); e != nil && !e.matched {
		e.matched = p.match(key, e.t4, &e.reply, symmetric)
	}
}

func (p *NTPPairs) reply(key ntpKey, t4 Stamp, n *NTP, symmetric bool) {
	switch {
	case key.stamp.IsZero():
		p.counts.Unasked++
		return
	case p.match(key, t4, n, symmetric):
		return
	case p.early.find(key, t4.UnixNanos) != nil:
		p.counts.RepeatedReplies++
		return
	}
	e := p.early.add(key, t4.UnixNanos)
	e.t4, e.reply = t4, *n
	e.reply.Fields, e.reply.MAC, e.reply.Rest = nil, nil, nil
}

// match finds the request of a reply, whose origin stamp is the request's transmit
// stamp, or if interleaved its receive stamp.
func (p *NTPPairs) match(key ntpKey, t4 Stamp, n *NTP, symmetric bool) bool {
	now := t4.UnixNanos
	if r := p.requests.find(key, now); r != nil {
		if p.first(r) {
			p.basic(key, r, t4, n)
		}
		return true
	}
	if symmetric {
		return false
	}
	a := p.asked.find(key, now)
	if a == nil {
		return false
	}
	r := p.requests.find(key.of(a.transmit), now)
	if r == nil {
		return false
	}
	if p.first(r) {
		r.ambiguous = r.ambiguous || a.several
		a.arrival = n.Receive
		p.interleaved(key, r, a.mixed, t4, n)
	}
	return true
}

// first tells whether a request was not answered before.
func (p *NTPPairs) first(r *ntpRequest) bool {
	if r.answered {
		p.counts.RepeatedReplies++
		return false
	}
	r.answered = true
	p.counts.Answered++
	return true
}

func (p *NTPPairs) basic(key ntpKey, r *ntpRequest, t4 Stamp, n *NTP) {
	p.remember(key, r, t4, n, false)
	if r.ambiguous {
		p.counts.Ambiguous++
		return
	}
	p.counts.Basic++
	p.emit(key, ntpReplied{client: key.client, t1: r.t1, t4: t4}, n.Receive, n, false)
}

// interleaved completes the exchange before: its arrival at the server is named by
// the request, its departure by the reply.
func (p *NTPPairs) interleaved(key ntpKey, r *ntpRequest, mixed bool, t4 Stamp, n *NTP) {
	if before := p.replied.find(key.arrived(r.origin), t4.UnixNanos); before != nil && !before.closed {
		before.open, before.closed = false, true
		if mixed || before.ambiguous {
			p.counts.Ambiguous++
		} else {
			p.counts.Interleaved++
			p.emit(key, *before, r.origin, n, true)
		}
	}
	p.remember(key, r, t4, n, true)
}

// remember keeps an exchange until an interleaved reply tells its departure.
func (p *NTPPairs) remember(key ntpKey, r *ntpRequest, t4 Stamp, n *NTP, open bool) {
	client := key.client
	key = key.arrived(n.Receive)
	if n.Receive.IsZero() {
		return
	}
	if same := p.replied.find(key, t4.UnixNanos); same != nil {
		same.ambiguous = true
		return
	}
	*p.replied.add(key, t4.UnixNanos) = ntpReplied{client: client, t1: r.t1, t4: t4, ambiguous: r.ambiguous, open: open}
}

func (p *NTPPairs) emit(key ntpKey, x ntpReplied, arrival NTPTime, n *NTP, interleaved bool) {
	near := x.t4
	if !near.Set {
		near = x.t1
	}
	p.out = NTPExchange{
		Client: x.client, Server: key.server, Interface: key.at, T1: x.t1, T4: x.t4,
		T2: arrival.stamp(near), T3: n.Transmit.stamp(near), Interleaved: interleaved, Reply: *n,
	}
	p.out.Reply.Fields, p.out.Reply.MAC, p.out.Reply.Rest = nil, nil, nil
	p.Emit(&p.out)
}

func (k ntpKey) of(stamp NTPTime) ntpKey {
	k.stamp = stamp
	return k
}

// arrived is the key of an exchange by its arrival at the server. The next request
// goes back to it from another port: chrony takes a new one for each.
func (k ntpKey) arrived(stamp NTPTime) ntpKey {
	k.stamp, k.client = stamp, netip.AddrPortFrom(k.client.Addr(), 0)
	return k
}

// stamp returns a time in a packet that passed at near. Without that it lies in the 136
// years from 1968, RFC 4330 §3.
func (t NTPTime) stamp(near Stamp) Stamp {
	const turn = (eraSeconds - ntpUnix) * second
	if !near.Set {
		near.UnixNanos = turn
	}
	if t.IsZero() {
		return Stamp{}
	}
	return Stamp{t.UnixNanos(near.UnixNanos), true}
}
