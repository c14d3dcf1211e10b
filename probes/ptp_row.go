package probes

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// master is a time of the master's.
func (p ptpProbe) master(t wire.PTPTime) datasets.Stamp {
	ns, ok := t.UnixNanos()
	if !ok {
		return datasets.Stamp{}
	}
	return datasets.NewStamp(ns, datasets.Remote, sourceOf(p.server))
}

// finish judges a row whose messages were read between from and to, the one it is
// complete with.
func (q *ptpPeer) finish(row *datasets.Exchange, from moment, to *ptpHeard) {
	if _, stamped := row.T4.UnixNanos(); !stamped {
		q.arrivalsMissed++
	}
	row.Stall = to.waited
	row.Outcome, row.Copies = datasets.Replied, 1
	if row.Why == "" && q.ports.source != datasets.Hardware { // a NIC's clock did not step with ours
		row.Why = stepBetween(from, to.read)
	}
	q.probe.judge(row)
}

// judge makes a row invalid that contradicts itself.
func (p ptpProbe) judge(row *datasets.Exchange) {
	_, received := row.T2.UnixNanos()
	_, sent := row.T3.UnixNanos()
	delay, whole := row.Delay()
	switch {
	case row.Why != "":
	case !received || !sent:
		row.Why = "the master did not stamp it"
	case whole && delay < 0:
		row.Why = fmt.Sprintf("the path delay is negative (%v): a clock stepped or a stamp lies", delay/2)
	default:
		return
	}
	row.Outcome, row.Copies = datasets.Invalid, 0
}

// announced fills in what the master's Announce, nil if there was none, says of its
// clock, and what the option makes of its timescale: the offset from UTC means nothing
// of one that is not PTP's (IEEE 1588-2019 §7.2.4), such as that of a ptp4l on UTC.
func (p ptpProbe) announced(row *datasets.Exchange, flags wire.PTPFlags, a *wire.Announcement) {
	row.UTCOffset = p.fixed
	if a == nil {
		return
	}
	row.Reference, row.Leap = a.Grandmaster.String(), datasets.Some(leapOf(flags))
	if claim, ok := accuracyOf(a); ok {
		row.RootDispersion = datasets.Some(claim)
	}
	if _, fixed := p.fixed.Value(); !fixed && (p.utc == "announced" || flags.Has(wire.FlagUTCOffsetValid|wire.FlagPTPTimescale)) {
		row.UTCOffset = datasets.Some(a.UTCOffset)
	}
}

// leapOf is what is announced of the end of this UTC day, as NTP numbers it.
func leapOf(flags wire.PTPFlags) int {
	switch {
	case flags.Has(wire.FlagLeap61):
		return 1
	case flags.Has(wire.FlagLeap59):
		return 2
	}
	return 0
}

// corrected fills in how long the network says that it held messages up. What does not
// fit into its field is unknown (IEEE 1588-2019 §13.3.2.9), and so is θ then.
func corrected(row *datasets.Exchange, out wire.Correction, back ...wire.Correction) {
	there, fits := out.Duration()
	var here time.Duration
	for _, c := range back {
		d, ok := c.Duration()
		here, fits = here+d, fits && ok
	}
	if !fits {
		row.Why = "a correction does not fit into its field: how long the network took is unknown"
		return
	}
	if there != 0 {
		row.CorrectionOut = datasets.Some(there)
	}
	if here != 0 {
		row.CorrectionBack = datasets.Some(here)
	}
}

// facts is what the header says of the client.
func (q *ptpPeer) facts(mode string) []datasets.Field {
	own := q.ports.source.String()
	facts := []datasets.Field{
		{Key: "mode", Value: mode},
		{Key: "local", Value: q.ports.event.LocalAddr().String()},
		{Key: "port-identity", Value: q.id.String()},
		{Key: datasets.KeyStamps, Value: fmt.Sprintf("t1=%s t2,t3=%s t4=%s", own, sourceOf(q.probe.server), own)},
	}
	if nic := q.ports.nic; nic != nil {
		return append(append(facts, datasets.Field{Key: "local-clock", Value: nic.clock}), nic.facts...)
	}
	return append(facts, datasets.Field{Key: "local-clock", Value: "CLOCK_REALTIME"}, duration(datasets.KeyPrecision, clockPrecision()))
}

func (q *ptpPeer) trailer() []datasets.Field {
	fields := []datasets.Field{
		count("strays", q.strays.Load()), count("unread", q.unread.Load()),
		count("t1-missing", q.departuresMissed), count("t4-missing", q.arrivalsMissed),
	}
	if q.announce.read.isZero() {
		return append(fields, datasets.Field{Key: "announced", Value: "nothing"})
	}
	return append(fields, announcedFields(q.announce.Flags, &q.announce.Announcement)...)
}

// announcedFields say what a master announced last.
func announcedFields(flags wire.PTPFlags, a *wire.Announcement) []datasets.Field {
	valid := "not valid"
	if flags.Has(wire.FlagUTCOffsetValid) {
		valid = "valid"
	}
	return []datasets.Field{
		{Key: "grandmaster", Value: a.Grandmaster.String()},
		{Key: "announced", Value: fmt.Sprintf("class %d, accuracy 0x%02x, %d steps removed, UTC offset %s (%s)",
			a.Class, a.Accuracy, a.StepsRemoved, a.UTCOffset, valid)},
	}
}
