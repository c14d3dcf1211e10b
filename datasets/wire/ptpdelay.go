package wire

// delayPair is a Delay_Req and what answers it: one Delay_Resp if all is well, one of
// each master if there are several.
type delayPair struct {
	req       event
	client    station
	responses [4]delayResponse
	n         int
}

type delayResponse struct {
	master PortID
	remark
	done bool
}

func (p *PTPPairs) dropDelay(d *delayPair) {
	answered := false
	for i := range d.responses[:d.n] {
		answered = answered || d.responses[i].done
		if !d.responses[i].done {
			p.counts.DelayRespWithoutReq++
		}
	}
	if d.req.at.Set && !answered {
		p.counts.DelayReqWithoutResp++
	}
}

func (p *PTPPairs) delayReq(c *Packet, m *PTP) {
	d := findOrAdd(&p.delays, ptpKeyOf(c, m, m.Source, to(c)), c.UnixNanos)
	if !d.req.take(p, c, m) {
		return
	}
	d.client = from(c)
	for i := range d.responses[:d.n] {
		p.joinDelay(d, &d.responses[i], c, m, m.Source)
	}
}

func (p *PTPPairs) delayResp(c *Packet, m *PTP) {
	d := findAnswered(&p.delays, c, m)
	for i := range d.responses[:d.n] {
		if d.responses[i].master == m.Source {
			d.responses[i].take(p, m)
			return
		}
	}
	if d.n == len(d.responses) {
		p.counts.DelayRespWithoutReq++
		return
	}
	r := &d.responses[d.n]
	d.n++
	r.master = m.Source
	r.take(p, m)
	p.joinDelay(d, r, c, m, m.Requesting)
}

// joinDelay completes an end-to-end exchange. The correction of the Delay_Resp, into
// which the master copied that of the Delay_Req, is taken off T2−T1, IEEE 1588-2019
// §11.3. T3 and T4 are of the master's last Sync.
func (p *PTPPairs) joinDelay(d *delayPair, r *delayResponse, c *Packet, m *PTP, client PortID) {
	if r.done || !d.req.at.Set {
		return
	}
	r.done = true
	t2, ok := r.stamp.UnixNanos()
	leg := p.lastLeg(c, m, r.master, d.client)
	switch {
	case d.req.ambiguous || r.ambiguous:
		p.counts.Ambiguous++
		return
	case !ok:
		p.counts.Unset++
		return
	case leg == nil:
		p.counts.DelayWithoutSync++
		return
	}
	p.counts.EndToEnd++
	x := p.begin(EndToEnd, c, m, r.master)
	x.Client = client
	x.T1, x.T2, x.CorrectionOut = d.req.at, Stamp{t2, true}, r.correction
	x.T3, x.T4, x.CorrectionBack = leg.t3, leg.t4, leg.correction
	p.Emit(x)
}
