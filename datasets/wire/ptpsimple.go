package wire

// simplePair is an exchange of SPTP, facebook's profile without sessions: the server
// answers a Delay_Req by a Sync with the time of its arrival, and an Announce with the
// time the Sync left and the Delay_Req's correction.
type simplePair struct {
	req      event
	client   PortID
	sync     event
	arrival  PTPTime
	announce remark
	done     bool
}

func (p *PTPPairs) dropSimple(s *simplePair) {
	if !s.done {
		p.counts.SimpleReqWithoutResp++
	}
}

// simpleKey is of two stations: a Sync does not tell which port it answers.
type simpleKey struct {
	at             int // interface
	domain         uint8
	number         uint16
	client, server station
}

// simpleReq takes a Delay_Req that asks for SPTP.
func (p *PTPPairs) simpleReq(c *Packet, m *PTP) bool {
	if !m.Flags.Has(FlagProfile1 | FlagUnicast) {
		return false
	}
	key := simpleKey{c.Interface, m.Domain, m.Sequence, from(c), to(c)}
	s := p.simple.find(key, c.UnixNanos)
	if s == nil {
		s = p.simple.add(key, c.UnixNanos)
	}
	if s.req.take(p, c, m) {
		s.client = m.Source
	}
	return true
}

// simpleOf returns the request that a message to its sender answers, or nil.
func (p *PTPPairs) simpleOf(c *Packet, m *PTP) *simplePair {
	return p.simple.find(simpleKey{c.Interface, m.Domain, m.Sequence, to(c), from(c)}, c.UnixNanos)
}

// simpleSync takes a Sync that answers such a Delay_Req.
func (p *PTPPairs) simpleSync(c *Packet, m *PTP) bool {
	s := p.simpleOf(c, m)
	if s != nil && s.sync.take(p, c, m) {
		s.arrival = m.Timestamp
		p.joinSimple(s, c, m)
	}
	return s != nil
}

func (p *PTPPairs) simpleAnnounce(c *Packet, m *PTP) {
	if s := p.simpleOf(c, m); s != nil && s.announce.take(p, m) {
		p.joinSimple(s, c, m)
	}
}

func (p *PTPPairs) joinSimple(s *simplePair, c *Packet, m *PTP) {
	if s.done || !s.sync.at.Set || !s.announce.set {
		return
	}
	s.done = true
	t2, ok2 := s.arrival.UnixNanos()
	t3, ok3 := s.announce.stamp.UnixNanos()
	switch {
	case s.req.ambiguous || s.sync.ambiguous || s.announce.ambiguous:
		p.counts.Ambiguous++
		return
	case !ok2 || !ok3:
		p.counts.Unset++
		return
	}
	p.counts.Simple++
	x := p.begin(Simple, c, m, m.Source)
	x.Client, x.T1, x.T2, x.CorrectionOut = s.client, s.req.at, Stamp{t2, true}, s.announce.correction
	x.T3, x.T4, x.CorrectionBack = Stamp{t3, true}, s.sync.at, s.sync.correction
	p.Emit(x)
}
