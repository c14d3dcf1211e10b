package probes

import (
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ntpAnswer is what one query brought, as an engine saw it. What it is worth is
// judged afterwards.
type ntpAnswer struct {
	outcome datasets.Outcome // Replied for whatever datagram came
	err     error            // why it could not be sent, or why the engine refuses the reply
	forged  error            // why the reply is not authentic

	request wire.NTP // its Transmit, and if interleaved its Origin and Receive, tell the reply
	size    int      // bytes of the request
	reply   []byte   // valid until the engine's next query
	packet  wire.NTP // the reply
	broken  error    // why it is none

	sent     moment // just before it was sent
	received moment // just after the reply was read
	t1, t4   datasets.Stamp
	// departure is T1 as the kernel or the hardware stamped it, if the engine was to
	// ask for it and there is one.
	departure datasets.Stamp
	// lasts is how much later than T4 the packet had arrived as NTP has it.
	lasts time.Duration

	known refid // of the last reply, kept by engines that use an answer again
}

// refid is a reference id and the words for it.
type refid struct {
	id      [4]byte
	stratum int
	text    string
}

// reference returns the reply's reference id in words, which seldom change.
func (a *ntpAnswer) reference() string {
	if p := &a.packet; a.known.text == "" || a.known.id != p.ReferenceID || a.known.stratum != p.Stratum {
		a.known = refid{p.ReferenceID, p.Stratum, p.Refid()}
	}
	return a.known.text
}

// take makes b the reply.
func (a *ntpAnswer) take(b []byte) {
	a.reply = b
	a.packet, a.broken = wire.DecodeNTP(b)
}

// answered reports whether the reply answers the request, as far as its origin tells.
func (a *ntpAnswer) answered() bool { return a.basic() || a.interleaved() }

func (a *ntpAnswer) basic() bool {
	return len(a.reply) >= wire.NTPHeaderSize && a.packet.Origin == a.request.Transmit
}

// interleaved reports whether T3 of the reply is of the one before it.
func (a *ntpAnswer) interleaved() bool {
	return len(a.reply) >= wire.NTPHeaderSize && !a.request.Receive.IsZero() && a.packet.Origin == a.request.Receive
}

// moment is one reading of both clocks: a stamp has no monotonic part.
type moment struct {
	wall  time.Time     // for what the wall clock did meanwhile
	mono  time.Time     // for intervals
	width time.Duration // the two were read no farther apart
}

// thisMoment reads the clocks, again if the process was not run in between.
func thisMoment() moment {
	const tight, tries = 5 * time.Microsecond, 4
	var m moment
	before := time.Now()
	for range tries {
		now := time.Now()
		after := time.Now()
		m = moment{now.Round(0), now, after.Sub(before)}
		if m.width <= tight {
			break
		}
		before = after
	}
	return m
}

func (m moment) isZero() bool { return m.mono.IsZero() }

// stamp is the moment as the user's stamp.
func (m moment) stamp() datasets.Stamp {
	return datasets.StampTime(m.wall, datasets.Local, datasets.User)
}
