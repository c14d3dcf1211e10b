package probes

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beevik/ntp"
	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
)

// ntpRequest is a request with a recognisable transmit time.
func ntpRequest(tb testing.TB) []byte {
	tb.Helper()
	b, err := (&protocol.Packet{Settings: 4<<3 | 3, TxTimeSec: 0xdeadbeef, TxTimeFrac: 0x01234567}).Bytes()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// answered is a query of 20 ms with a sound reply, whose kernel stamp is 1 ms older
// than its reading.
func answered(tb testing.TB, change func(*protocol.Packet)) *ntpAnswer {
	tb.Helper()
	sent := thisMoment()
	sent.width = time.Microsecond
	a := &ntpAnswer{outcome: datasets.Replied, size: 48, sent: sent, received: sent.after(20 * time.Millisecond), t1: sent.stamp()}
	a.t4 = datasets.StampTime(sent.wall.Add(19*time.Millisecond), datasets.Local, datasets.Kernel)
	a.request, _ = wire.DecodeNTP(ntpRequest(tb))
	a.take(goodReply(ntpRequest(tb), 0, change))
	return a
}

// exchange is the answer as a row.
func (a *ntpAnswer) exchange() (row datasets.Exchange, kiss string) {
	kiss = a.judge(&row)
	return row, kiss
}

// after is the moment d later, by both clocks.
func (m moment) after(d time.Duration) moment { return moment{m.wall.Add(d), m.mono.Add(d), m.width} }

func TestJudgeBelieves(t *testing.T) {
	a := answered(t, nil)
	e, kiss := a.exchange()
	if e.Outcome != datasets.Replied || e.Why != "" || kiss != "" {
		t.Fatalf("%v %q, kiss %q", e.Outcome, e.Why, kiss)
	}
	if e.T1.Source() != datasets.User || e.T4.Source() != datasets.Kernel || e.T2.Source() != datasets.User || e.T3.Source() != datasets.User {
		t.Errorf("stamps by %v %v %v %v", e.T1.Source(), e.T2.Source(), e.T3.Source(), e.T4.Source())
	}
	if wall, ok := e.WallElapsed(); !ok || wall != 19*time.Millisecond || e.Elapsed != 20*time.Millisecond || e.Stall != time.Millisecond {
		t.Errorf("T4−T1 %v, elapsed %v, stall %v; want 19, 20 and 1 ms", wall, e.Elapsed, e.Stall)
	}
	if e.Size != 48 || e.Copies != 1 || e.Reference != "10.77.0.1" {
		t.Errorf("size %d, copies %d, reference %q", e.Size, e.Copies, e.Reference)
	}
	// 1<<10 and 1<<9 in units of 2^−16 s.
	for name, c := range map[string]struct {
		got  datasets.Optional[time.Duration]
		want time.Duration
	}{"root delay": {e.RootDelay, 15625 * time.Microsecond}, "root dispersion": {e.RootDispersion, 7812500 * time.Nanosecond}} {
		if got, ok := c.got.Value(); !ok || got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		got  datasets.Optional[int]
		want int
	}{"stratum": {e.Stratum, 2}, "leap": {e.Leap, 0}, "precision": {e.Precision, -23}} {
		if got, ok := c.got.Value(); !ok || got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestJudgeDoubts(t *testing.T) {
	change := func(f func(*protocol.Packet)) func(*ntpAnswer) {
		return func(a *ntpAnswer) { a.take(goodReply(ntpRequest(t), 0, f)) }
	}
	refused := func(err error, f func(*protocol.Packet)) func(*ntpAnswer) {
		return func(a *ntpAnswer) {
			change(f)(a)
			a.err = fmt.Errorf("refused by the library: %w", err)
		}
	}
	for _, c := range []struct {
		name, why string
		spoil     func(*ntpAnswer)
	}{
		{"empty", "0 bytes are too short", func(a *ntpAnswer) { a.take(nil) }},
		{"short", "47 bytes are too short for a reply (48)", func(a *ntpAnswer) { a.take(a.reply[:47]) }},
		{"long", "52 bytes in reply to 48", func(a *ntpAnswer) { a.take(append(a.reply, 0, 0, 0, 0)) }},
		{"stray", "origin differs", refused(ntp.ErrServerResponseMismatch, func(p *protocol.Packet) { p.OrigTimeFrac++ })},
		{"our own request", "mode 3", func(a *ntpAnswer) {
			own := append([]byte(nil), ntpRequest(t)...)
			copy(own[24:32], own[40:])
			a.take(own)
		}},
		{"version 7", "version 7 in a reply to version 4", change(func(p *protocol.Packet) { p.Settings |= 7 << 3 })},
		{"no T2", "did not stamp", change(func(p *protocol.Packet) { p.RxTimeSec, p.RxTimeFrac = 0, 0 })},
		{"no T3", "did not stamp", refused(ntp.ErrInvalidTransmitTime, func(p *protocol.Packet) { p.TxTimeSec, p.TxTimeFrac = 0, 0 })},
		{"T3 before T2", "sent it 3s before it received", refused(ntp.ErrServerTickedBackwards, func(p *protocol.Packet) { p.TxTimeSec -= 3 })},
		{"T3 late", "delay is negative (-2.98", change(func(p *protocol.Packet) { p.TxTimeSec += 3 })},
		{"leap 3", "not synchronised (leap 3)", change(func(p *protocol.Packet) { p.Settings |= 3 << 6 })},
		{"stratum 16", "not synchronised (stratum 16)", change(func(p *protocol.Packet) { p.Stratum = 16 })},
		{"stratum 255", "not synchronised (stratum 255)", change(func(p *protocol.Packet) { p.Stratum = 255 })},
		{"dispersion", "may be off by 16.0078125s", change(func(p *protocol.Packet) { p.RootDispersion = 16 << 16 })},
		{"root delay", "may be off by 16.0078125s", change(func(p *protocol.Packet) { p.RootDelay = 32 << 16 })},
		{"set in the future", "was set 1s after it sent", change(func(p *protocol.Packet) { p.RefTimeSec, p.RefTimeFrac = p.TxTimeSec+1, p.TxTimeFrac })},
		{"library", "refused by the library: odd", refused(errors.New("odd"), nil)},
		{"step", "clock stepped by 25µs", func(a *ntpAnswer) { a.received.wall = a.received.wall.Add(25 * time.Microsecond) }},
		{"step back", "clock stepped by -1h0m0s", func(a *ntpAnswer) { a.received.wall = a.received.wall.Add(-time.Hour) }},
		{"read before it came", "stamped its arrival 1s after", func(a *ntpAnswer) {
			a.t4 = datasets.StampTime(a.received.wall.Add(time.Second), datasets.Local, datasets.Kernel)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answered(t, nil)
			c.spoil(a)
			e, kiss := a.exchange()
			if e.Outcome != datasets.Invalid || !strings.Contains(e.Why, c.why) || kiss != "" {
				t.Errorf("%v %q, kiss %q; want invalid %q", e.Outcome, e.Why, kiss, c.why)
			}
			if _, ok := e.T1.UnixNanos(); !ok {
				t.Error("T1 is lost")
			}
		})
	}
}

// A step that is smaller than what slewing and reading the clocks may do is let
// pass, and a long pause between arrival and reading is no step.
func TestJudgeAllowsSlewAndPauses(t *testing.T) {
	a := answered(t, nil)
	a.received.wall = a.received.wall.Add(21 * time.Microsecond) // 10 µs, 500 ppm of 20 ms, two readings of 1 µs, less 1
	if e, _ := a.exchange(); e.Outcome != datasets.Replied {
		t.Errorf("21 µs in 20 ms: %v %q", e.Outcome, e.Why)
	}
	a = answered(t, nil)
	a.received.wall = a.received.wall.Add(12 * time.Millisecond)
	a.received.width = 12 * time.Millisecond
	if e, _ := a.exchange(); e.Outcome != datasets.Replied {
		t.Errorf("12 ms between the readings of the two clocks: %v %q", e.Outcome, e.Why)
	}
	a = answered(t, nil)
	a.received = a.sent.after(10 * time.Second)
	a.received.wall = a.received.wall.Add(4900 * time.Microsecond) // 490 ppm
	if e, _ := a.exchange(); e.Outcome != datasets.Replied {
		t.Errorf("490 ppm in 10 s: %v %q", e.Outcome, e.Why)
	}
}

// A kiss code is taken from a reply to our own request alone, and from one that the
// library cannot read too: its time stamps may be zero.
func TestJudgeKisses(t *testing.T) {
	rate := func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, 'R'<<24|'A'<<16|'T'<<8|'E' }
	for _, c := range []struct {
		name, kiss string
		spoil      func(*protocol.Packet)
	}{
		{"kiss", "RATE", rate},
		{"without stamps", "RATE", func(p *protocol.Packet) { rate(p); p.RxTimeSec, p.RxTimeFrac, p.TxTimeSec, p.TxTimeFrac = 0, 0, 0, 0 }},
		{"leap 3", "RATE", func(p *protocol.Packet) { rate(p); p.Settings |= 3 << 6 }},
		{"forged", "", func(p *protocol.Packet) { rate(p); p.OrigTimeSec++ }},
		{"from a client", "", func(p *protocol.Packet) { rate(p); p.Settings = p.Settings&^7 | 3 }},
		{"not text", "", func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, 0x01020304 }},
	} {
		a := answered(t, c.spoil)
		e, kiss := a.exchange()
		if e.Outcome != datasets.Invalid || kiss != c.kiss || e.Why == "" {
			t.Errorf("%s: %v %q, kiss %q, want %q", c.name, e.Outcome, e.Why, kiss, c.kiss)
		}
		if c.kiss != "" && (e.Reference != c.kiss || !strings.Contains(e.Why, `stratum 0 (kiss code "RATE")`)) {
			t.Errorf("%s: reference %q, why %q", c.name, e.Reference, e.Why)
		}
	}
}

func TestQueriesThatBringNothing(t *testing.T) {
	read := func(err error) error {
		return &net.OpError{Op: "read", Net: "udp", Err: os.NewSyscallError("recvmsg", err)}
	}
	for _, c := range []struct {
		err  error
		want datasets.Outcome
		size int
	}{
		{&net.OpError{Op: "read", Net: "udp", Err: os.ErrDeadlineExceeded}, datasets.TimedOut, 48},
		{read(syscall.ECONNREFUSED), datasets.Refused, 48},
		{read(syscall.EHOSTUNREACH), datasets.Refused, 48},
		{&net.OpError{Op: "write", Net: "udp", Err: syscall.ENOBUFS}, datasets.LostLocal, 0},
		{&net.OpError{Op: "dial", Net: "udp", Err: syscall.ENETUNREACH}, datasets.LostLocal, 0},
	} {
		tap := &ntpTap{request: ntpRequest(t), sent: thisMoment(), err: c.err}
		e, kiss := tap.answer(false).exchange()
		if e.Outcome != c.want || e.Size != c.size || kiss != "" || e.Why != "" || e.Copies != 0 || e.Elapsed != 0 {
			t.Errorf("%v: %+v", c.err, e)
		}
	}
}

// The library's reading of the server's stamps is the twin of ours, to the
// nanosecond, in the era that ends in 2036 and the next; Go's calendar is the third.
func TestServerStampsAgreeWithTheLibrary(t *testing.T) {
	for _, c := range []struct {
		seconds, fraction uint32
		want              string
	}{
		{0, 1, "2036-02-07T06:28:16Z"}, // 2^−32 s rounds to 0 ns; RFC 5905 figure 4: era 1 begins at 06:28:16
		{0xffffffff, 0x80000000, "2036-02-07T06:28:15.5Z"},
		{2208988800, 0x40000000, "1970-01-01T00:00:00.25Z"}, // RFC 5905 figure 4: first day of UNIX
		{0xe0000000, 0xffffffff, "2019-02-02T11:39:45Z"},    // UNIX 3758096384 − 2208988800, and a fraction that rounds up
	} {
		want, err := time.Parse(time.RFC3339Nano, c.want)
		if err != nil {
			t.Fatal(err)
		}
		a := ntpAnswer{received: thisMoment()}
		if got, _ := a.remote(wire.NTPTime(uint64(c.seconds)<<32|uint64(c.fraction)), datasets.User).UnixNanos(); got != want.UnixNano() {
			t.Errorf("%#x.%#x: %v, want %v", c.seconds, c.fraction, time.Unix(0, got).UTC(), want)
		}
		r := queryNTP(t, func(_ int, request []byte) [][]byte {
			return [][]byte{goodReply(request, 0, func(p *protocol.Packet) {
				p.RxTimeSec, p.RxTimeFrac, p.TxTimeSec, p.TxTimeFrac = c.seconds, c.fraction, c.seconds, c.fraction
			})}
		})
		if !r.Timestamps.ServerRecv.Equal(want) || !r.Timestamps.ServerXmit.Equal(want) {
			t.Errorf("%#x.%#x: the library reads %v, want %v", c.seconds, c.fraction, r.Timestamps.ServerRecv, want)
		}
	}
	if _, ok := (&ntpAnswer{}).remote(0, datasets.User).UnixNanos(); ok {
		t.Error("a field of zero is a stamp")
	}
}
