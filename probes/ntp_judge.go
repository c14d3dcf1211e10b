package probes

import (
	"fmt"
	"strings"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

const (
	// maxDistance is MAXDISP of RFC 5905: a server that admits to half its root delay
	// plus dispersion of this is not synchronised.
	maxDistance = 16 * time.Second
	// noStratum is MAXSTRAT of RFC 5905: unsynchronised.
	noStratum = 16

	// stepFloor and slewLimit are how far wall and monotonic clock may move apart
	// within an exchange, beyond the widths of their readings, before its stamps are
	// not believed. In 900,000 exchanges on two busy cores the widths explained all of
	// it; the floor is for less even clocks, and 500 ppm is what kernels slew at, which
	// not every system's monotonic clock follows. A smaller step goes unseen and moves
	// θ by at most half of it.
	stepFloor = 10 * time.Microsecond
	slewLimit = 500e-6
)

// exchange returns the attempt as a row without its place in the trace, and the
// kiss code to obey, if there is one. It is a function of what was sent and received
// alone: the library's opinion of the reply (RTT, ClockOffset, RootDistance, Flags,
// Validate) is not asked, because it takes a negative delay for none and knows
// nothing of steps.
func (a *ntpAnswer) exchange() (row datasets.Exchange, kiss string) {
	row.Outcome = a.outcome()
	if row.Outcome != datasets.LostLocal {
		row.Size = len(a.request)
	}
	if row.Outcome != datasets.Replied {
		return row, ""
	}
	row.Elapsed = a.received.mono.Sub(a.sent.mono)
	row.T1 = datasets.StampTime(a.sent.wall, datasets.Local, datasets.User)
	row.T4 = datasets.StampTime(a.received.wall, datasets.Local, datasets.User)
	var p protocol.Packet
	if len(a.reply) >= protocol.PacketSizeBytes && p.UnmarshalBinary(a.reply[:protocol.PacketSizeBytes]) == nil {
		a.fill(&row, &p)
	}
	if row.Why = a.stray(&p); row.Why != "" {
		row.Outcome = datasets.Invalid
		return row, ""
	}
	if p.Stratum == 0 {
		row.Outcome, row.Why = datasets.Invalid, fmt.Sprintf("stratum 0 (kiss code %q)", row.Reference)
		return row, row.Reference
	}
	for _, doubt := range []func(*datasets.Exchange, *protocol.Packet) string{a.unlike, unsynchronised, a.impossible} {
		if row.Why = doubt(&row, &p); row.Why != "" {
			row.Outcome = datasets.Invalid
			return row, ""
		}
	}
	row.Copies = 1
	return row, ""
}

// fill takes the reply's fields into the row as they are, and the library's stamps
// if it has some: its T1 is the nearest to the send, and its T4 may be the kernel's.
func (a *ntpAnswer) fill(row *datasets.Exchange, p *protocol.Packet) {
	row.Stratum = datasets.Some(int(p.Stratum))
	row.Leap = datasets.Some(int(p.Settings >> 6))
	row.RootDelay = datasets.Some(shortTime(p.RootDelay))
	row.RootDispersion = datasets.Some(shortTime(p.RootDispersion))
	row.Precision = datasets.Some(int(p.Precision))
	row.Reference = reference(p)
	row.T2 = remoteStamp(p.RxTimeSec, p.RxTimeFrac)
	row.T3 = remoteStamp(p.TxTimeSec, p.TxTimeFrac)
	if a.response == nil {
		return
	}
	t := a.response.Timestamps
	row.T1 = datasets.StampTime(t.ClientXmit, datasets.Local, datasets.User)
	row.T4 = datasets.StampTime(t.ClientRecv, datasets.Local, a.source)
	if a.source != datasets.User {
		row.Stall = max(0, a.received.wall.Sub(t.ClientRecv))
	}
}

// stray tells why the datagram is no answer to our request at all, or "".
func (a *ntpAnswer) stray(p *protocol.Packet) string {
	const server = 4 // mode, RFC 5905 figure 10
	origin := [2]uint32{p.OrigTimeSec, p.OrigTimeFrac}
	var asked protocol.Packet
	if err := asked.UnmarshalBinary(a.request); err != nil {
		return fmt.Sprintf("the request was not NTP: %v", err)
	}
	switch mode, version := p.Settings&7, p.Settings>>3&7; {
	case len(a.reply) < protocol.PacketSizeBytes:
		return fmt.Sprintf("%d bytes are too short for a reply (%d)", len(a.reply), protocol.PacketSizeBytes)
	case origin != [2]uint32{asked.TxTimeSec, asked.TxTimeFrac}:
		return "does not answer this request: stray, late or forged (origin differs)"
	case mode != server:
		return fmt.Sprintf("mode %d, not a server's reply", mode)
	case version < 1 || version > 4:
		return fmt.Sprintf("version %d in a reply to version %d", version, asked.Settings>>3&7)
	}
	return ""
}

// unlike tells what a sound server does not send in reply to our request, or "".
func (a *ntpAnswer) unlike(row *datasets.Exchange, _ *protocol.Packet) string {
	t2, received := row.T2.UnixNanos()
	t3, sent := row.T3.UnixNanos()
	switch {
	case len(a.reply) > len(a.request):
		return fmt.Sprintf("%d bytes in reply to %d: nothing was asked for that needs them", len(a.reply), len(a.request))
	case !received || !sent:
		return "the server did not stamp it"
	case t3 < t2:
		return fmt.Sprintf("the server sent it %v before it received the request", time.Duration(t2-t3))
	case a.err != nil || a.response == nil:
		return fmt.Sprintf("refused by the library: %v", a.err)
	}
	return ""
}

// unsynchronised tells why the server's clock is no reference by its own word, or
// "". (The library's FlagSynchronized leaves out stratum 1.)
func unsynchronised(row *datasets.Exchange, p *protocol.Packet) string {
	const unknown = 3 // leap indicator, RFC 5905 figure 9
	distance := shortTime(p.RootDelay)/2 + shortTime(p.RootDispersion)
	switch {
	case p.Settings>>6 == unknown:
		return "the server is not synchronised (leap 3)"
	case p.Stratum >= noStratum:
		return fmt.Sprintf("the server is not synchronised (stratum %d)", p.Stratum)
	case distance >= maxDistance:
		return fmt.Sprintf("the server may be off by %v: root delay / 2 + dispersion reaches %v", distance, maxDistance)
	}
	if t, ok := remoteStamp(p.RefTimeSec, p.RefTimeFrac).UnixNanos(); ok {
		if sent, _ := row.T3.UnixNanos(); t > sent {
			return fmt.Sprintf("the server says it was set %v after it sent this", time.Duration(t-sent))
		}
	}
	return ""
}

// impossible tells how the stamps contradict each other or the monotonic clock, or
// "". Which of them lies nobody can say.
func (a *ntpAnswer) impossible(row *datasets.Exchange, _ *protocol.Packet) string {
	limit := stepFloor + time.Duration(slewLimit*float64(row.Elapsed)) + a.sent.width + a.received.width
	// Both readings are pairs of the two clocks, so that a pause of ours between the
	// arrival and the read, which T4−T1 does not contain, is not taken for a step.
	if step := a.received.wall.Sub(a.sent.wall) - row.Elapsed; step.Abs() > limit {
		return fmt.Sprintf("the local clock stepped by %v within the exchange", step)
	}
	if early := a.response.Timestamps.ClientRecv.Sub(a.received.wall); early > limit {
		return fmt.Sprintf("the kernel stamped its arrival %v after it was read", early)
	}
	// Not the library's RTT, which makes 0 of it.
	if delay, ok := row.Delay(); !ok || delay < 0 {
		return fmt.Sprintf("the delay is negative (%v): a clock stepped or a stamp lies", delay)
	}
	return ""
}

// remoteStamp is a time of the server, absent if its field is zero. As RFC 4330 §3
// has it for 1968, what would lie before 1970 belongs to the era that begins in
// 2036.
func remoteStamp(seconds, fraction uint32) datasets.Stamp {
	if seconds == 0 && fraction == 0 {
		return datasets.Stamp{}
	}
	t := protocol.Unix(seconds, 0)
	if t.Unix() < 0 {
		t = t.Add(1 << 32 * time.Second)
	}
	nanos := (uint64(fraction)*uint64(time.Second) + 1<<31) >> 32
	return datasets.StampTime(t.Add(time.Duration(nanos)), datasets.Remote, datasets.User)
}

// shortTime is the NTP short format, seconds in 16.16 bits.
func shortTime(v uint32) time.Duration {
	return time.Duration((uint64(v)*uint64(time.Second) + 1<<15) >> 16)
}

// reference writes the reference id: text up to stratum 1, else an address or the
// hash of one, as four numbers. What is not printable is left out.
func reference(p *protocol.Packet) string {
	id := [4]byte{byte(p.ReferenceID >> 24), byte(p.ReferenceID >> 16), byte(p.ReferenceID >> 8), byte(p.ReferenceID)}
	if p.Stratum > 1 {
		return fmt.Sprintf("%d.%d.%d.%d", id[0], id[1], id[2], id[3])
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(id[:]))
	return strings.TrimSpace(text)
}
