package probes

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/nic"
	"github.com/tickmark/tickmark/probes/stamp"
)

// settle decides who stamps. A stamp of the departure pairs with a T3 of the same
// kind, which a server can only give afterwards, interleaved: in basic mode the
// user's T1, taken just before the send, is the nearer to the server's T3.
func (n *ntpPrecise) settle(p ntpProbe, remote netip.AddrPort, plan Plan) error {
	m := &n.settled
	if n.conn.KernelStamps() && p.stamps != "user" {
		m.t4 = datasets.Kernel
	}
	switch {
	case p.stamps == "hardware":
		m.t1, m.t4, n.depart = datasets.Hardware, datasets.Hardware, datasets.Hardware
	case p.stamps == "kernel", p.stamps == "auto" && p.interleaved():
		m.t1, n.depart = datasets.Kernel, datasets.Kernel
	}
	n.asked1 = p.stamps == "kernel" || p.stamps == "hardware"
	if n.depart == datasets.Hardware {
		if err := n.useNIC(remote, plan); err != nil {
			return err
		}
	}
	if err := n.conn.StampDepartures(n.depart); err != nil {
		return err
	}
	m.facts = append(m.facts, datasets.Field{Key: "pairing", Value: n.pairing(p)})
	return nil
}

// useNIC has the interface that leads to the server stamp, by its own clock.
func (n *ntpPrecise) useNIC(remote netip.AddrPort, plan Plan) (err error) {
	iface, err := nic.Towards(remote.Addr())
	if err != nil {
		return err
	}
	if n.card, err = useHardware(iface, plan, nic.RXAll, nic.RXNTPAll); err != nil {
		return err
	}
	n.settled.clock = n.card.clock
	n.settled.facts = append(n.settled.facts, n.card.facts...)
	n.settled.facts = append(n.settled.facts, datasets.Field{Key: "t4-correction", Value: n.settleSpeed(iface)})
	return nil
}

// settleSpeed says how far T4 is from where NTP has it.
func (n *ntpPrecise) settleSpeed(iface string) string {
	speed, err := nic.LinkSpeed(iface)
	if err != nil {
		return "none, since the speed of the link is unknown: the offset is high by half of what a packet lasts"
	}
	n.speed = speed
	return fmt.Sprintf("what a packet lasts at %v: the NIC stamps its start, NTP has it arrive with its end", speed)
}

// heard counts a T4 that did not come, and says how far the NIC's is too early.
func (n *ntpPrecise) heard(a *ntpAnswer) {
	_, stamped := a.t4.UnixNanos()
	switch {
	case !stamped:
		n.unheard++
	case n.speed > 0:
		a.lasts = n.speed.Lasts(len(a.reply), n.settled.remote.Addr().Is6())
	}
}

// pairing says why the stamps are the ones they are.
func (n *ntpPrecise) pairing(p ntpProbe) string {
	switch {
	case p.interleaved():
		return "interleaved: T3 is the server's later stamp of the departure, and T1 is by the " + n.settled.t1.String()
	case n.depart == datasets.User:
		return "basic: T3 is the server's before it sends, and so is our T1"
	}
	return "basic, as asked for: T3 is the server's before it sends, and T1 the " + n.depart.String() + "'s after; the offset is off by half of what lies between"
}

// arrived is T4 by the one who is to stamp it. A packet without a hardware stamp has
// none: the other clocks are not the NIC's.
func (n *ntpPrecise) arrived(arrival stamp.Arrival, read moment) datasets.Stamp {
	switch {
	case n.settled.t4 == datasets.User:
		return read.stamp()
	case n.settled.t4 == datasets.Hardware && arrival.Wall.Source() != datasets.Hardware:
		return datasets.Stamp{}
	}
	return arrival.Wall
}

// departed fetches the stamp of the departure. Without it, T1 stays the user's if
// that is of the same clock.
func (n *ntpPrecise) departed(a *ntpAnswer, number uint32) {
	at, err := n.conn.Departure(number, time.Now().Add(patience))
	if err != nil {
		n.missing++
		if n.depart == datasets.Hardware {
			a.t1 = datasets.Stamp{}
		}
		return
	}
	a.departure = at
	if n.asked1 {
		a.t1 = at
	}
}
