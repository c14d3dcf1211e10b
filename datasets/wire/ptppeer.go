package wire

// peerPair is a Pdelay_Req, its Pdelay_Resp and that one's Follow_Up.
type peerPair struct {
	req       event
	responder PortID
	answered  bool // the responder is known
	resp      event
	twoStep   bool
	receipt   PTPTime
	follow    remark
	done      bool
}

func (p *PTPPairs) dropPeer(d *peerPair) {
	switch {
	case d.done:
	case !d.req.at.Set:
		p.counts.PdelayRespWithoutReq++
	case !d.answered:
		p.counts.PdelayReqWithoutResp++
	default:
		p.counts.PdelayRespWithoutOther++
	}
}

func (p *PTPPairs) pdelayReq(c *Packet, m *PTP) {
	d := findOrAdd(&p.peers, ptpKeyOf(c, m, m.Source, to(c)), c.UnixNanos)
	if d.req.take(p, c, m) {
		p.joinPeer(d, c, m, m.Source)
	}
}

func (p *PTPPairs) pdelayResp(c *Packet, m *PTP) {
	d := findAnswered(&p.peers, c, m)
	if d.answered && d.responder != m.Source {
		p.counts.Strangers++ // a link has two ends, IEEE 1588-2019 §11.4.4
		return
	}
	d.answered, d.responder = true, m.Source
	took := false
	if m.Type == PdelayRespFollowUp {
		took = d.follow.take(p, m)
	} else if took = d.resp.take(p, c, m); took {
		d.twoStep, d.receipt = m.Flags.Has(FlagTwoStep), m.Timestamp
	}
	if took {
		p.joinPeer(d, c, m, m.Requesting)
	}
}

// joinPeer completes a peer-to-peer exchange if all of it is there. The Follow_Up's
// correction began as that of the Pdelay_Req, the Pdelay_Resp's grew on the way back,
// IEEE 1588-2019 §11.4.2. A responder that does not tell T2 and T3 has T3−T2 in one of
// them (one step: the latter).
func (p *PTPPairs) joinPeer(d *peerPair, c *Packet, m *PTP, client PortID) {
	if d.done || !d.req.at.Set || !d.resp.at.Set || d.twoStep && !d.follow.set {
		return
	}
	d.done = true
	if d.req.ambiguous || d.resp.ambiguous || d.follow.ambiguous {
		p.counts.Ambiguous++
		return
	}
	p.counts.PeerToPeer++
	x := p.begin(PeerToPeer, c, m, d.responder)
	x.Client, x.T1, x.T4, x.CorrectionBack = client, d.req.at, d.resp.at, d.resp.correction
	x.T2 = stampOf(d.receipt.UnixNanos())
	if d.twoStep {
		x.T3, x.CorrectionOut = stampOf(d.follow.stamp.UnixNanos()), d.follow.correction
	}
	p.Emit(x)
}
