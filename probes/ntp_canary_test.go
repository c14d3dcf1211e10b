package probes

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/beevik/ntp"
	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

// These tests hold beevik/ntp v1.6.0 to its defects. One that fails says that a new
// version behaves differently: then the guard it stands for is to be looked at, and
// perhaps taken out.

// recordPortable records with the engine that the library stands behind.
func recordPortable(tb testing.TB, target string, plan Plan) *ntpTape {
	tb.Helper()
	tape := &ntpTape{}
	if err := parseNTP(tb, "ntp:engine=portable").Run(tb.Context(), target, plan, tape); err != nil {
		tb.Fatal(err)
	}
	return tape
}

func queryNTP(t *testing.T, answer func(n int, request []byte) [][]byte) *ntp.Response {
	t.Helper()
	r, err := ntp.QueryWithOptions(serveNTP(t, answer).String(), ntp.QueryOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sentLate stamps T3 three seconds after the reply really left.
func sentLate(_ int, request []byte) [][]byte {
	return [][]byte{goodReply(request, 0, func(p *protocol.Packet) { p.TxTimeSec += 3 })}
}

// Guard: contradiction computes the delay from the stamps, unclamped.
func TestCanaryClampedDelay(t *testing.T) {
	r := queryNTP(t, sentLate)
	rootTerms := r.RootDelay/2 + r.RootDispersion
	if r.RTT != 0 || r.RootDistance != rootTerms || r.Validate() != nil {
		t.Errorf("the library no longer clamps: RTT %v, root distance %v, %v", r.RTT, r.RootDistance, r.Validate())
	}
	if r.ClockOffset < 1400*time.Millisecond {
		t.Errorf("offset %v: this reply should pull it by 1.5 s", r.ClockOffset)
	}

	e := recordPortable(t, serveNTP(t, sentLate).String(), few(1)).rows[0]
	delay, _ := e.Delay()
	if e.Outcome != datasets.Invalid || !strings.Contains(e.Why, "delay is negative") || delay > -2900*time.Millisecond {
		t.Errorf("the probe: %v %q, delay %v; want invalid, and the delay of some −3 s kept", e.Outcome, e.Why, delay)
	}
}

// Guard: ntpTap takes pairs of wall and monotonic readings of its own.
func TestCanaryStampsHaveNoMonotonicReading(t *testing.T) {
	r := queryNTP(t, sound)
	for name, at := range map[string]time.Time{"ClientXmit": r.Timestamps.ClientXmit, "ClientRecv": r.Timestamps.ClientRecv} {
		if strings.Contains(at.String(), "m=") {
			t.Errorf("%s now has a monotonic reading: %v", name, at)
		}
	}
}

// Guard: unsynchronised decides by leap and stratum.
func TestCanaryStratum1IsNotFlagged(t *testing.T) {
	for stratum, want := range map[uint8]ntp.ResponseFlags{1: 0, 2: ntp.FlagSynchronized} {
		r := queryNTP(t, func(_ int, request []byte) [][]byte {
			return [][]byte{goodReply(request, 0, func(p *protocol.Packet) { p.Stratum = stratum })}
		})
		if got := r.Flags & ntp.FlagSynchronized; got != want {
			t.Errorf("stratum %d: synchronised flag %v, want %v", stratum, got, want)
		}
	}
	row := recordPortable(t, serveNTP(t, func(_ int, request []byte) [][]byte {
		return [][]byte{goodReply(request, 0, func(p *protocol.Packet) { p.Stratum = 1 })}
	}).String(), few(1)).rows[0]
	if row.Outcome != datasets.Replied {
		t.Errorf("the probe at stratum 1: %v %q", row.Outcome, row.Why)
	}
}

// Guard: bindNTP refuses version 5.
func TestCanaryVersion5Panics(t *testing.T) {
	at := serveNTP(t, func(_ int, request []byte) [][]byte {
		reply := make([]byte, 48, 52)
		reply[0] = 5<<3 | 4
		reply[1], reply[32], reply[40] = 1, 0xe0, 0xe0 // stratum, receive and transmit time
		copy(reply[24:32], request[24:32])             // the client's cookie
		reply = binary.BigEndian.AppendUint16(reply, 0xf501)
		return [][]byte{binary.BigEndian.AppendUint16(reply, 0)} // padding of length zero
	})
	if !panicsAt(at, 5) {
		t.Error("the library no longer panics at version 5")
	}
	if _, _, err := Probes().Parse("probe", "ntp:version=5"); err == nil || !strings.Contains(err.Error(), "version 5: want 3 or 4") {
		t.Errorf("the probe with version=5: %v", err)
	}
}

func panicsAt(at netip.AddrPort, version int) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	_, _ = ntp.QueryWithOptions(at.String(), ntp.QueryOptions{Timeout: 10 * time.Second, Version: version})
	return false
}

// Guard: ntpTap.query takes a panic at a reply for a reply that must not be
// believed. An exponent of −128 has no negative in 8 bits.
func TestCanaryExponentsPanic(t *testing.T) {
	for name, spoil := range map[string]func(*protocol.Packet){
		"poll":      func(p *protocol.Packet) { p.Poll = -128 },
		"precision": func(p *protocol.Packet) { p.Precision = -128 },
	} {
		at := serveNTP(t, func(n int, request []byte) [][]byte {
			if n < 2 {
				return [][]byte{goodReply(request, 0, spoil)}
			}
			return sound(n, request)
		})
		if !panicsAt(at, 4) {
			t.Errorf("the library no longer panics at a %s of −128", name)
		}
		rows := recordPortable(t, at.String(), few(3)).rows
		if len(rows) != 3 || rows[0].Outcome != datasets.Invalid || rows[0].Why != "refused by the library: it panics: runtime error: negative shift amount" {
			t.Errorf("%s: %d rows, %v %q", name, len(rows), rows[0].Outcome, rows[0].Why)
		}
		if rows[1].Outcome != datasets.Replied {
			t.Errorf("%s: after it %v %q", name, rows[1].Outcome, rows[1].Why)
		}
	}
}

// Guard: a stray datagram costs its attempt, which says so, and no more.
func TestCanaryFirstDatagramDecides(t *testing.T) {
	answer := func(n int, request []byte) [][]byte {
		stray := goodReply(request, 0, func(p *protocol.Packet) { p.OrigTimeSec++ })
		if n%2 == 0 {
			return [][]byte{stray, goodReply(request, 0, nil)}
		}
		return sound(n, request)
	}
	_, err := ntp.QueryWithOptions(serveNTP(t, answer).String(), ntp.QueryOptions{Timeout: 10 * time.Second})
	if !errors.Is(err, ntp.ErrServerResponseMismatch) {
		t.Errorf("the library no longer gives up at the first datagram: %v", err)
	}

	for i, e := range recordPortable(t, serveNTP(t, answer).String(), few(6)).rows {
		want := datasets.Replied
		if i%2 == 0 {
			want = datasets.Invalid
		}
		if e.Outcome != want || (want == datasets.Invalid) != strings.Contains(e.Why, "origin differs") {
			t.Errorf("attempt %d: %v %q, want %v", i, e.Outcome, e.Why, want)
		}
	}
}

// wrapped is a socket that the library does not know as one.
type wrapped struct{ net.Conn }

// Guard: ntpPortable.ask leaves GetSystemTime unset and returns the bare socket.
func TestCanaryWhatTurnsKernelStampsOff(t *testing.T) {
	at := serveNTP(t, sound)
	for name, c := range map[string]struct {
		getTime func() time.Time
		wrap    bool
		want    datasets.Source
	}{
		"as the probe asks":  {nil, false, datasets.Kernel},
		"with GetSystemTime": {time.Now, false, datasets.User},
		"with a wrapper":     {nil, true, datasets.User},
	} {
		var udp *net.UDPConn
		tap := &ntpTap{}
		_, err := ntp.QueryWithOptions(at.String(), ntp.QueryOptions{
			Timeout: 10 * time.Second, GetSystemTime: c.getTime, Extensions: []ntp.Extension{tap},
			Dialer: func(string, string) (net.Conn, error) {
				var err error
				udp, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(at))
				tap.conn = udp
				if c.wrap {
					return wrapped{udp}, err
				}
				return udp, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := c.want; tap.source != want && runtime.GOOS == "linux" {
			t.Errorf("%s: stamps are from %v, want %v", name, tap.source, want)
		}
	}
}
