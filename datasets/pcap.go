package datasets

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
)

// A capture, pcap or pcapng: the exchanges of NTP and PTP in it, a series a client, server
// and way. T1 and T4 are when packets passed the capture, which is the client's clock if
// the capture was made there; T2 and T3 are the server's own. What has no other half is
// counted.
func bindPcap(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isPcap, func(name string, r *bufio.Reader) importer { return &pcap{name: name, r: r} })(fs)
}

// isPcap knows the magic numbers of pcap, of either byte order, in micro- and nanoseconds,
// and of pcapng (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
func isPcap(head []byte) bool {
	return slices.ContainsFunc([]string{"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1", "\xa1\xb2\x3c\x4d", "\x0a\x0d\x0d\x0a"},
		func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) })
}

type pcap struct {
	name    string
	r       *bufio.Reader
	capture *wire.Capture
	ntp     wire.NTPPairs
	ptp     wire.PTPPairs
	out     *rows
	series  []byte // room for a name
	now     int64  // when the packet at hand passed
	other   int64  // UDP of other protocols, or nothing that can be read
	ended   bool
}

const ntpPort = 123

func (p *pcap) next(out *rows) error {
	if p.ended {
		return io.EOF
	}
	p.out = out
	if p.capture == nil {
		c, err := wire.OpenCapture(p.r)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.capture = c
		p.ntp.Emit, p.ptp.Emit = p.putNTP, p.putPTP
	}
	var packet wire.Packet
	if p.capture.Next(&packet) {
		p.take(&packet)
		return nil
	}
	p.ended = true
	p.ntp.Close()
	p.ptp.Close()
	p.say()
	if err := p.capture.Err(); err != nil {
		return &SyntaxError{p.name, 0, err.Error() + "; what follows is not read"}
	}
	return nil
}

func (p *pcap) take(c *wire.Packet) {
	p.now = c.UnixNanos
	udp := func(port uint16) bool { return c.Src.Port() == port || c.Dst.Port() == port }
	switch {
	case c.Transport == wire.OverEthernet || udp(wire.PTPEventPort) || udp(wire.PTPGeneralPort):
		if m, err := wire.DecodePTP(c.Payload); err == nil {
			p.ptp.Add(c, &m)
			return
		}
	case udp(ntpPort):
		if m, err := wire.DecodeNTP(c.Payload); err == nil {
			p.ntp.Add(c, &m)
			return
		}
	}
	p.other++
}

// say tells what became of the packets that are in no row.
func (p *pcap) say() {
	n, t, c := p.ntp.Counts(), p.ptp.Counts(), p.capture.Counts()
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{n.Unanswered, "NTP request was not answered", "NTP requests were not answered"},
		{n.Unasked, "NTP reply has no request in the capture", "NTP replies have no request in the capture"},
		{n.Ambiguous, "NTP reply could be of two requests", "NTP replies could be of two requests"},
		{n.Other, "NTP packet is a broadcast or of a mode without replies", "NTP packets are broadcasts or of modes without replies"},
		{t.PeerToPeer, "peer-to-peer exchange of PTP compares no clocks", "peer-to-peer exchanges of PTP compare no clocks"},
		{t.OneWay, "Sync of PTP has no Delay_Req to it", "Syncs of PTP have no Delay_Req to them"},
		{t.DelayReqWithoutResp, "Delay_Req was not answered", "Delay_Reqs were not answered"},
		{c.Unstamped, "frame has no time that can be one", "frames have no time that can be one"},
		{c.Malformed, "frame is malformed", "frames are malformed"},
		{c.Foreign, "frame is neither UDP nor PTP, and not read", "frames are neither UDP nor PTP, and not read"},
		{int(p.other), "datagram is neither NTP nor PTP, and not read", "datagrams are neither NTP nor PTP, and not read"},
	} {
		switch {
		case of.n == 1:
			p.out.say("1 %s", of.one)
		case of.n > 1:
			p.out.say("%d %s", of.n, of.many)
		}
	}
}

// of returns the series of an exchange.
func (p *pcap) of(source string) *Series {
	s, first := p.out.of(p.series, Exchanges, source)
	if first {
		s.Header.Set("stamps", "t1=kernel t2,t3=user t4=kernel; T1 and T4 are those of the capture")
	}
	return s
}

// put adds a row of the four stamps, and of when the answer to the request passed: in PTP
// that is not T4, which is of a Sync and may be before T1.
func (p *pcap) put(s *Series, t1, t2, t3, t4 wire.Stamp, answered int64) *Exchange {
	e := p.out.exchange(s)
	n := s.calls
	s.calls++
	e.Sample = Sample{Seq: n, Call: n, Attempt: 1, Copies: 1, Inflight: 1, Due: s.wall(time.Duration(t1.UnixNanos))}
	e.Sent = e.Due
	e.T1, e.T4 = wireStamp(t1, Local, Kernel), wireStamp(t4, Local, Kernel)
	e.T2, e.T3 = wireStamp(t2, Remote, User), wireStamp(t3, Remote, User)
	e.Elapsed = max(0, time.Duration(answered-t1.UnixNanos))
	if delay, whole := e.Delay(); !whole {
		e.Outcome, e.Why = Invalid, "one of the four has no time"
	} else if delay < 0 {
		e.Outcome, e.Why = Invalid, "the round trip is negative: a clock was set, or a stamp lies"
	}
	return e
}

func wireStamp(s wire.Stamp, clock ClockID, source Source) Stamp {
	if !s.Set {
		return Stamp{}
	}
	return NewStamp(s.UnixNanos, clock, source)
}

func (p *pcap) putNTP(x *wire.NTPExchange) {
	p.series = append(append(append(append(p.series[:0], "ntp "...), x.Client.Addr().String()...), " to "...), x.Server.String()...)
	s := p.of("capture, NTP")
	e := p.put(s, x.T1, x.T2, x.T3, x.T4, x.T4.UnixNanos)
	r := &x.Reply
	e.Stratum, e.Leap, e.Precision = Some(int(r.Stratum)), Some(int(r.Leap)), Some(int(r.Precision))
	e.RootDelay, e.RootDispersion, e.Reference = Some(r.RootDelay), Some(r.RootDispersion), r.Refid()
}

func (p *pcap) putPTP(x *wire.PTPExchange) {
	if x.Kind != wire.EndToEnd && x.Kind != wire.Simple {
		return
	}
	p.series = fmt.Appendf(p.series[:0], "ptp %v to %v domain %d", x.Client, x.Server, x.Domain)
	s := p.of("capture, PTP " + x.Kind.String())
	e := p.put(s, x.T1, x.T2, x.T3, x.T4, p.now)
	there, fits1 := x.CorrectionOut.Duration()
	back, fits2 := x.CorrectionBack.Duration()
	if !fits1 || !fits2 {
		e.Outcome, e.Why = Invalid, "a correction does not fit into its field: how long the network took is unknown"
		return
	}
	if there != 0 {
		e.CorrectionOut = Some(there)
	}
	if back != 0 {
		e.CorrectionBack = Some(back)
	}
	if !x.Announced {
		p.out.say("a master announces nothing: its timescale is taken as that of the capture, though TAI is 37 s ahead of UTC")
		return
	}
	e.Reference = x.Announcement.Grandmaster.String()
	if x.AnnounceFlags.Has(wire.FlagUTCOffsetValid | wire.FlagPTPTimescale) {
		e.UTCOffset = Some(x.Announcement.UTCOffset)
	}
}
