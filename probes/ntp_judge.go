package probes

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
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

// judge makes row the attempt, without its place in the trace, and returns the kiss
// code to obey, if there is one. It is a function of what was sent and received
// alone. The row of an interleaved reply has no T3 yet: see interleaving.
func (a *ntpAnswer) judge(row *datasets.Exchange) (kiss string) {
	*row = datasets.Exchange{}
	row.Outcome = a.outcome
	if row.Outcome != datasets.LostLocal {
		row.Size = a.size
	}
	if row.Outcome != datasets.Replied {
		return ""
	}
	row.Elapsed = a.received.mono.Sub(a.sent.mono)
	row.T1, row.T4 = a.t1, a.t4
	if a.lasts > 0 {
		row.CorrectionBack = datasets.Some(-a.lasts)
	}
	if at, ok := a.t4.UnixNanos(); ok && a.t4.Source() == datasets.Kernel {
		row.Stall = max(0, time.Duration(a.received.wall.UnixNano()-at))
	}
	a.fill(row)
	if row.Why, kiss = a.doubts(row); row.Why != "" {
		row.Outcome = datasets.Invalid
		return kiss
	}
	row.Copies = 1
	return ""
}

// doubts returns why the reply must not be believed, or "", and its kiss code.
func (a *ntpAnswer) doubts(row *datasets.Exchange) (why, kiss string) {
	if why := a.stray(); why != "" {
		return why, ""
	}
	if a.packet.Stratum == 0 {
		return fmt.Sprintf("stratum 0 (kiss code %q)", row.Reference), row.Reference
	}
	for _, doubt := range [...]func(*ntpAnswer, *datasets.Exchange) string{
		(*ntpAnswer).unlike, (*ntpAnswer).unsynchronised, (*ntpAnswer).stepped, (*ntpAnswer).contradicted, (*ntpAnswer).refused,
	} {
		if why := doubt(a, row); why != "" {
			return why, ""
		}
	}
	return "", ""
}

// fill takes the reply's fields into the row as they are.
func (a *ntpAnswer) fill(row *datasets.Exchange) {
	if len(a.reply) < wire.NTPHeaderSize {
		return
	}
	p := &a.packet
	row.Stratum, row.Leap = datasets.Some(p.Stratum), datasets.Some(p.Leap)
	row.RootDelay, row.RootDispersion = datasets.Some(p.RootDelay), datasets.Some(p.RootDispersion)
	row.Precision = datasets.Some(p.Precision)
	row.Reference = a.reference()
	row.T2 = a.remote(p.Receive, datasets.User)
	if !a.interleaved() {
		row.T3 = a.remote(p.Transmit, datasets.User)
	}
}

// remote is a time of the server, in the era that our own clock is in, absent if its
// field is zero. Who took it is not on the wire: source is what is known of it.
func (a *ntpAnswer) remote(t wire.NTPTime, source datasets.Source) datasets.Stamp {
	if t.IsZero() {
		return datasets.Stamp{}
	}
	return datasets.NewStamp(t.UnixNanos(a.received.wall.UnixNano()), datasets.Remote, source)
}

// stray tells why the datagram is no answer to our request at all, or "".
func (a *ntpAnswer) stray() string {
	switch p := &a.packet; {
	case len(a.reply) < wire.NTPHeaderSize:
		return fmt.Sprintf("%d bytes are too short for a reply (%d)", len(a.reply), wire.NTPHeaderSize)
	case !a.answered():
		return "does not answer this request: stray, late or forged (origin differs)"
	case p.Mode != wire.ModeServer:
		return fmt.Sprintf("mode %d, not a server's reply", p.Mode)
	case p.Version < 1 || p.Version > 4:
		return fmt.Sprintf("version %d in a reply to version %d", p.Version, a.request.Version)
	case a.broken != nil:
		return a.broken.Error()
	case a.forged != nil:
		return a.forged.Error()
	}
	return ""
}

// unlike tells what a sound server does not send in reply to our request, or "".
func (a *ntpAnswer) unlike(*datasets.Exchange) string {
	switch p := &a.packet; {
	case len(a.reply) > a.size:
		return fmt.Sprintf("%d bytes in reply to %d: nothing was asked for that needs them", len(a.reply), a.size)
	case p.Receive.IsZero() || p.Transmit.IsZero():
		return "the server did not stamp it"
	}
	return ""
}

// refused tells why the engine does not take a reply in which we found nothing wrong, or "".
func (a *ntpAnswer) refused(*datasets.Exchange) string {
	if a.err != nil {
		return a.err.Error()
	}
	return ""
}

// unsynchronised tells why the server's clock is no reference by its own word, or
// "". (The library's FlagSynchronized leaves out stratum 1.)
func (a *ntpAnswer) unsynchronised(row *datasets.Exchange) string {
	const unknown = 3 // leap indicator, RFC 5905 figure 9
	p := &a.packet
	distance := p.RootDelay/2 + p.RootDispersion
	switch {
	case p.Leap == unknown:
		return "the server is not synchronised (leap 3)"
	case p.Stratum >= noStratum:
		return fmt.Sprintf("the server is not synchronised (stratum %d)", p.Stratum)
	case distance >= maxDistance:
		return fmt.Sprintf("the server may be off by %v: root delay / 2 + dispersion reaches %v", distance, maxDistance)
	}
	set, ok := a.remote(p.Reference, datasets.User).UnixNanos()
	t2, _ := row.T2.UnixNanos()
	if t3, sent := row.T3.UnixNanos(); sent {
		t2 = max(t2, t3)
	}
	if ok && set > t2 {
		return fmt.Sprintf("the server says it was set %v after it sent this", time.Duration(set-t2))
	}
	return ""
}

// stepped tells how our own clocks contradict each other, or "".
func (a *ntpAnswer) stepped(row *datasets.Exchange) string {
	if why := stepBetween(a.sent, a.received); why != "" {
		return why
	}
	at, ok := row.T4.UnixNanos()
	early := time.Duration(at - a.received.wall.UnixNano())
	if ok && row.T4.Source() == datasets.Kernel && early > stepLimit(a.sent, a.received) {
		return fmt.Sprintf("the kernel stamped its arrival %v after it was read", early)
	}
	return ""
}

// stepLimit is how far the clocks may have moved apart between two moments.
func stepLimit(from, to moment) time.Duration {
	return stepFloor + time.Duration(slewLimit*float64(to.mono.Sub(from.mono))) + from.width + to.width
}

// stepBetween tells by how much the wall clock stepped between two moments, or "".
// Both are pairs of the two clocks, so that a pause of ours between the arrival and
// the read, which T4−T1 does not contain, is not taken for a step.
func stepBetween(from, to moment) string {
	if step := to.wall.Sub(from.wall) - to.mono.Sub(from.mono); step.Abs() > stepLimit(from, to) {
		return fmt.Sprintf("the local clock stepped by %v within the exchange", step)
	}
	return ""
}

func (*ntpAnswer) contradicted(row *datasets.Exchange) string { return contradiction(row) }

// contradiction tells how the stamps of an exchange contradict each other, or "".
// Which of them lies nobody can say. An exchange that lacks one tells nothing.
func contradiction(row *datasets.Exchange) string {
	t2, received := row.T2.UnixNanos()
	t3, sent := row.T3.UnixNanos()
	if received && sent && t3 < t2 {
		return fmt.Sprintf("the server sent it %v before it received the request", time.Duration(t2-t3))
	}
	// Not the library's RTT, which makes 0 of it.
	if delay, ok := row.Delay(); ok && delay < 0 {
		return fmt.Sprintf("the delay is negative (%v): a clock stepped or a stamp lies", delay)
	}
	return ""
}
