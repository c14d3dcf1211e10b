package probes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/nic"
	"github.com/tickmark/tickmark/probes/stamp"
)

// ntpPrecise is our own exchange over one socket: stamps by whom they are asked for,
// matched by the packet's number and by the reply's origin, basic or interleaved.
// What arrives and answers nothing is passed over, so a late reply never shifts the
// pairs behind it.
type ntpPrecise struct {
	conn    *stamp.Conn
	settled ntpMeans
	version int
	depart  datasets.Source // whose stamp of a departure is asked for; User is none
	asked1  bool            // that stamp is T1 whatever T3 is
	card    *hardware       // nil without hardware stamps
	speed   nic.Speed       // of the link, if the NIC stamps; 0 is unknown
	nts     *ntsSession     // nil without

	answer  ntpAnswer
	out, in []byte
	nonces  nonces
	earlier [32]wire.NTPTime // origins that replies to the last queries have
	asked   int
	strays  int64
	after   int64       // replies to earlier queries: late ones and duplicates
	missing int64       // departures whose stamp did not come
	unheard int64       // answers that the NIC did not stamp
	awake   func() bool // lets go of the context
}

// patience is how long the stamp of a departure is waited for after the reply. A
// driver hands its hardware's out within milliseconds.
const patience = 20 * time.Millisecond

// largestReply is more than any reply that a sound server sends: what is longer is
// cut, and refused for its length.
const largestReply = 2048

// openPreciseNTP returns an engine whose queries end when ctx does.
func openPreciseNTP(ctx context.Context, p ntpProbe, remote netip.AddrPort, plan Plan) (*ntpPrecise, error) {
	conn, err := stamp.Dial(netip.AddrPort{}, remote)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", remote, err)
	}
	n := &ntpPrecise{conn: conn, version: p.version, out: make([]byte, 0, largestReply), in: make([]byte, largestReply)}
	n.settled = ntpMeans{engine: "precise", remote: remote, local: conn.LocalAddr(), clock: "CLOCK_REALTIME"}
	if err := n.settle(p, remote, plan); err != nil {
		return nil, errors.Join(err, conn.Close(), n.card.put())
	}
	n.awake = context.AfterFunc(ctx, func() { conn.Close() })
	return n, nil
}

func (n *ntpPrecise) means() ntpMeans { return n.settled }

func (n *ntpPrecise) close() error {
	err := n.card.put()
	if n.awake() { // else closed by the end of the context
		err = errors.Join(err, n.conn.Close())
	}
	return err
}

// trailer says what did not fit.
func (n *ntpPrecise) trailer() []datasets.Field {
	fields := []datasets.Field{count("strays", n.strays), count("after-the-answer", n.after)}
	if n.depart != datasets.User {
		fields = append(fields, count("t1-missing", n.missing))
	}
	if n.card != nil {
		fields = append(fields, count("t4-missing", n.unheard))
	}
	return fields
}

// ask sends one request and waits for its own answer. If nothing else came than what
// answers something else, the first of that is the answer, to be judged as a stray.
func (n *ntpPrecise) ask(ctx context.Context, q ntpQuery, until time.Time) *ntpAnswer {
	a := &n.answer
	*a = ntpAnswer{outcome: datasets.LostLocal, known: a.known}
	packet, err := n.compose(ctx, q)
	if err != nil {
		a.err, a.sent = err, thisMoment()
		return a
	}
	number, err := n.send(packet)
	if err != nil {
		a.err = err
		return a
	}
	a.size = len(packet)
	a.t1 = a.sent.stamp()
	a.outcome = n.listen(a, until)
	if n.depart != datasets.User && a.outcome == datasets.Replied {
		n.departed(a, number)
	}
	if a.outcome == datasets.Replied {
		n.heard(a)
	}
	n.remember(a.request.Transmit, a.request.Receive)
	return a
}

// remember keeps what a reply that is still on its way has as its origin.
func (n *ntpPrecise) remember(origins ...wire.NTPTime) {
	for _, o := range origins {
		if !o.IsZero() {
			n.earlier[n.asked%len(n.earlier)] = o
			n.asked++
		}
	}
}

// compose writes the request: its transmit time is a random number, which nobody can
// know who does not see it on its way.
func (n *ntpPrecise) compose(ctx context.Context, q ntpQuery) ([]byte, error) {
	n.answer.request = wire.NTP{Version: n.version, Mode: wire.ModeClient, Origin: q.origin, Receive: q.receive, Transmit: n.nonces.next()}
	if n.nts != nil {
		return n.nts.protect(ctx, &n.answer.request)
	}
	n.out = n.answer.request.AppendTo(n.out[:0])
	return n.out, nil
}

// send reads the clocks as late as can be: right in front of the system call. An ICMP
// error that an earlier packet brought comes out of the next call, and is no answer to
// this one.
func (n *ntpPrecise) send(packet []byte) (uint32, error) {
	if n.conn.Before == nil {
		n.conn.Before = func() { n.answer.sent = thisMoment() }
	}
	n.answer.sent = thisMoment() // if it does not come so far
	number, err := n.conn.Send(packet)
	if errors.Is(err, syscall.ECONNREFUSED) {
		number, err = n.conn.Send(packet)
	}
	return number, err
}

// listen reads until the answer is there, or until is past.
func (n *ntpPrecise) listen(a *ntpAnswer, until time.Time) datasets.Outcome {
	if err := n.conn.SetReadDeadline(until); err != nil {
		a.err = err
		return datasets.LostLocal
	}
	var stray []byte
	var strayAt moment
	var strayStamp datasets.Stamp
	for {
		arrival, err := n.conn.Read(n.in)
		if err != nil {
			if a.err = err; stray != nil && errors.Is(err, os.ErrDeadlineExceeded) {
				a.err, a.received, a.t4 = nil, strayAt, strayStamp
				a.take(stray)
				return datasets.Replied
			}
			return readOutcome(err)
		}
		a.received = thisMoment()
		a.t4 = n.arrived(arrival, a.received)
		a.take(n.in[:arrival.N])
		switch {
		case a.answered():
			return n.open(a)
		case !a.packet.Origin.IsZero() && slices.Contains(n.earlier[:], a.packet.Origin):
			n.after++
		default:
			n.strays++
			if stray == nil {
				stray, strayAt, strayStamp = bytes.Clone(a.reply), a.received, a.t4
			}
		}
	}
}

// open takes NTS off the reply, if it was asked for.
func (n *ntpPrecise) open(a *ntpAnswer) datasets.Outcome {
	if n.nts != nil {
		a.forged = n.nts.open(a.reply, &a.packet)
	}
	return datasets.Replied
}

// readOutcome tells what a read that failed says of the attempt. What comes out of
// reading a connected UDP socket beside a deadline is an ICMP error that the other
// side or a router sent: port, host or network unreachable.
func readOutcome(err error) datasets.Outcome {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return datasets.TimedOut
	case errors.Is(err, net.ErrClosed):
		return datasets.LostLocal
	}
	return datasets.Refused
}
