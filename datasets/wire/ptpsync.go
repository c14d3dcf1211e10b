package wire

// syncPair is a Sync and its Follow_Up.
type syncPair struct {
	sync    event
	twoStep bool
	origin  PTPTime // of a one-step Sync
	follow  remark
	done    bool
}

// syncLeg is a Sync with all that belongs to it.
type syncLeg struct {
	t3, t4     Stamp
	correction Correction
}

func (p *PTPPairs) dropSync(s *syncPair) {
	switch {
	case s.done:
	case s.sync.at.Set:
		p.counts.SyncWithoutFollowUp++
	default:
		p.counts.FollowUpWithoutSync++
	}
}

func (p *PTPPairs) sync(c *Packet, m *PTP) {
	s := findOrAdd(&p.syncs, ptpKeyOf(c, m, m.Source, to(c)), c.UnixNanos)
	if s.sync.take(p, c, m) {
		s.twoStep, s.origin = m.Flags.Has(FlagTwoStep), m.Timestamp
		p.joinSync(s, c, m)
	}
}

func (p *PTPPairs) followUp(c *Packet, m *PTP) {
	s := findOrAdd(&p.syncs, ptpKeyOf(c, m, m.Source, to(c)), c.UnixNanos)
	if s.follow.take(p, m) {
		p.joinSync(s, c, m)
	}
}

// joinSync completes a Sync if all of it is there. The corrections of Sync and
// Follow_Up are taken off T4−T3, IEEE 1588-2019 §11.2. A Follow_Up of a one-step Sync
// is not for it.
func (p *PTPPairs) joinSync(s *syncPair, c *Packet, m *PTP) {
	if !s.sync.at.Set || s.twoStep && !s.follow.set {
		return
	}
	if !s.twoStep && s.follow.set {
		p.counts.FollowUpWithoutSync++
	}
	if s.done {
		return
	}
	s.done = true
	origin, correction := s.origin, s.sync.correction
	if s.twoStep {
		origin, correction = s.follow.stamp, correction.plus(s.follow.correction)
	}
	leg := syncLeg{stampOf(origin.UnixNanos()), s.sync.at, correction}
	switch {
	case s.sync.ambiguous || s.follow.ambiguous:
		p.counts.Ambiguous++
		return
	case !leg.t3.Set:
		p.counts.Unset++
		return
	}
	p.keepLeg(leg, c, m)
	p.counts.OneWay++
	x := p.begin(OneWay, c, m, m.Source)
	x.T3, x.T4, x.CorrectionBack = leg.t3, leg.t4, leg.correction
	p.Emit(x)
}

// keepLeg makes it the master's last.
func (p *PTPPairs) keepLeg(leg syncLeg, c *Packet, m *PTP) {
	*p.legs.put(ptpKeyOf(c, m, m.Source, station{}).master(m.Source, to(c)), c.UnixNanos) = leg
}

// lastLeg returns the master's last Sync to the client, or to everybody.
func (p *PTPPairs) lastLeg(c *Packet, m *PTP, master PortID, client station) *syncLeg {
	key := ptpKeyOf(c, m, master, client)
	if leg := p.legs.find(key.master(master, client), c.UnixNanos); leg != nil {
		return leg
	}
	return p.legs.find(key.master(master, station{}), c.UnixNanos)
}
