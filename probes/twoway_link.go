package probes

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
	"github.com/tickmark/tickmark/probes/twoway"
)

// echoSize is of the packets that a flight thinks it sends.
const echoSize = echo.Size

// twoWayLink carries a flight's packets as STAMP: what goes out as one of the echo leaves
// as a test packet, and what a reflector makes of that comes in as the echo's reply.
//
// Test packets count what was sent, as RFC 8762 §4.2.1 has it, and not attempts. Which
// attempt one was of, and the time that was in it, are remembered: an answer must have
// both, and the session's SSID (or none: RFC 8972 §3), to be believed.
type twoWayLink struct {
	*stamp.Conn
	mode    *wire.STAMP
	clock   *twoway.Clock
	session uint64 // of the echo's packets
	ssid    uint16
	size    int
	kernel  bool // stamps departures

	tests   []sentTest // a ring, by number
	next    uint32     // number
	out, in []stamp.Message
	told    reflections
}

// sentTest is a test packet.
type sentTest struct {
	seq    int64 // of the attempt
	at     int64 // when it was handed over to be sent, since 1970
	time   wire.STAMPTime
	number uint32
	told   bool // it was answered
}

// newTwoWayLink returns a link that remembers so many packets, a power of two.
func newTwoWayLink(conn *stamp.Conn, mode *wire.STAMP, clock *twoway.Clock, size, room int) *twoWayLink {
	l := &twoWayLink{Conn: conn, mode: mode, clock: clock, size: size, tests: make([]sentTest, room)}
	l.told.lost.seen = make([]seenNumber, room)
	padding := make([]byte, size)
	_, _ = rand.Read(padding) // RFC 8972 §4.1: pseudorandom; it never fails
	for range stamp.MostBatched {
		b := append([]byte{}, padding...)
		mode.PutPadding(b)
		l.out = append(l.out, stamp.Message{Buf: b})
		l.in = append(l.in, stamp.Message{Buf: make([]byte, size+1)}) // one byte more shows what is too long
	}
	return l
}

func (l *twoWayLink) at(number uint32) *sentTest { return &l.tests[number&uint32(len(l.tests)-1)] }

// SendBatch sends test packets for packets of the echo.
func (l *twoWayLink) SendBatch(out []stamp.Message) (n int, first uint32, err error) {
	out = out[:min(len(out), len(l.out))]
	for i := range out {
		p, err := echo.Parse(out[i].Buf)
		if err != nil {
			return 0, 0, err
		}
		number := l.next + uint32(i)
		t := sentTest{seq: int64(p.Seq), number: number, at: time.Now().UnixNano()}
		var e wire.ErrorEstimate
		t.time, e = l.clock.Stamp(t.at)
		l.mode.PutTest(l.out[i].Buf, &wire.STAMPTest{Seq: number, SSID: l.ssid})
		l.mode.Seal(l.out[i].Buf, t.time, e)
		*l.at(number) = t
	}
	n, first, err = l.Conn.SendBatch(l.out[:len(out)])
	if n == 0 {
		return n, first, err
	}
	if !l.kernel {
		first = l.next
	}
	l.next += uint32(n)
	l.told.left(n)
	return n, first, err
}

// Departure is the kernel's stamp of a packet or, where there is none, the time in it.
func (l *twoWayLink) Departure(number uint32, until time.Time) (datasets.Stamp, error) {
	if l.kernel {
		return l.Conn.Departure(number, until)
	}
	t := l.at(number)
	if t.number != number {
		return datasets.Stamp{}, stamp.ErrNoStamp
	}
	return datasets.NewStamp(t.at, datasets.Local, datasets.User), nil
}

// ReadBatch reads what reflectors sent, as replies of the echo.
func (l *twoWayLink) ReadBatch(in []stamp.Message) (n int, err error) {
	n, err = l.Conn.ReadBatch(l.in[:min(len(in), len(l.in))])
	for i := range n {
		a := &in[i].Arrival
		*a = l.in[i].Arrival
		a.N = l.translate(in[i].Buf[:0], l.in[i].Buf[:a.N], a)
	}
	return n, err
}

// translate writes the echo's reply for a reflected packet, and returns its length: 0 for
// what is none.
func (l *twoWayLink) translate(dst, b []byte, a *stamp.Arrival) int {
	p, err := l.mode.Reflected(b)
	if errors.Is(err, wire.ErrSTAMPKey) {
		l.told.forged()
	}
	t := l.at(p.Sender.Seq)
	if err != nil || t.number != p.Sender.Seq || t.time == 0 || int32(l.next-t.number) <= 0 {
		return 0
	}
	r := echo.Packet{Session: l.session, Seq: uint64(t.seq), Reply: true}
	if p.Sender.Time != t.time || p.SSID != 0 && p.SSID != l.ssid || len(b) > l.size {
		r.Session = ^r.Session // that is how a flight knows what is not to be believed
		return len(r.Append(dst))
	}
	near, _ := a.Wall.UnixNanos()
	t2, ok2 := p.Error.UnixNanos(p.Received, near)
	t3, ok3 := p.Error.UnixNanos(p.Time, near)
	if ok2 {
		r.ServerReceivedWall, r.ServerReceived = t2, t2
	}
	if r.ServerSent = t3; !ok3 {
		r.ServerSent = t2 - 1 // no time at all there
	}
	r.ServerQueued = numbered40(p.Seq, p.TTL)
	l.told.answered(&p, !t.told)
	t.told = true
	return len(r.Append(dst))
}

// numbered40 is a reflector's number and a TTL in the 40 bits in which a flight keeps how
// long a packet lay unread, which STAMP does not tell. It is never 0, which is unknown.
func numbered40(number uint32, ttl uint8) int64 { return int64(number)<<8 + int64(ttl) + 1 }
