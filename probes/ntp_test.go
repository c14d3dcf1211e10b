package probes

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

func TestNTPSpec(t *testing.T) {
	p, canonical, err := Probes().Parse("probe", "ntp")
	if err != nil || canonical != "ntp:ca=,engine=auto,family=any,mode=basic,nts=false,nts-port=4460,port=123,stamps=auto,version=4" || p.Kind() != datasets.Exchanges || !p.TakesTarget() {
		t.Errorf("%v %q %v", p, canonical, err)
	}
	for text, want := range map[string]string{
		"ntp:port=0":     "port must be from 1 to 65535",
		"ntp:port=65536": "port must be from 1 to 65535",
		"ntp:version=2":  "version 2: want 3 or 4",
		"ntp:version=5":  "version 5: want 3 or 4",
		"ntp:family=5":   `family "5": want any, 4 or 6`,
	} {
		var usage *spec.UsageError
		if _, _, err := Probes().Parse("probe", text); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Every row of a sound server has the four stamps in the order of cause and effect,
// and a header that says how they were made; all requests come from one port.
func TestNTPRecordsExchanges(t *testing.T) {
	for _, text := range []string{"ntp", "ntp:version=3"} {
		for _, listen := range []string{"127.0.0.1", "::1"} {
			t.Run(text+" "+listen, func(t *testing.T) {
				from := make(chan netip.AddrPort, 20)
				at := serveNTPOn(t, netip.MustParseAddr(listen), func(n int, request []byte, client netip.AddrPort) [][]byte {
					from <- client
					return sound(n, request)
				})
				tape := &ntpTape{}
				plan := few(20)
				plan.Deadline = datasets.Some(5 * time.Second)
				plan.Facts = []datasets.Field{{Key: datasets.KeyProbe, Value: "as the caller says"}}
				if err := parseNTP(t, text).Run(t.Context(), at.String(), plan, tape); err != nil {
					t.Fatal(err)
				}
				checkHeader(t, tape, at)
				if len(tape.rows) != 20 || len(from) != 20 || tape.trailer["sent"] != "20" || tape.trailer[datasets.KeyUnfinished] != "0" {
					t.Errorf("%d rows, %d requests, trailer %v", len(tape.rows), len(from), tape.trailer)
				}
				for i := range tape.rows {
					checkRow(t, int64(i), &tape.rows[i])
				}
				for range len(from) {
					if client := <-from; client.String() != tape.header.Text("local") {
						t.Errorf("a request came from %v, the header says %s", client, tape.header.Text("local"))
					}
				}
			})
		}
	}
}

func checkHeader(t *testing.T, tape *ntpTape, at netip.AddrPort) {
	t.Helper()
	want := map[string]string{
		datasets.KeyKind: "exchange", datasets.KeyTarget: at.String(), datasets.KeyAddress: at.String(),
		datasets.KeyProbe: "as the caller says", datasets.KeySchedule: "constant:interval=1ms,count=20",
		datasets.KeyListen: "10s", datasets.KeyDeadline: "fixed:after=5s", datasets.KeyStamps: "t1=user t4=user",
	}
	if runtime.GOOS == "linux" {
		want[datasets.KeyStamps] = "t1=user t4=kernel"
	}
	for key, value := range want {
		if got := tape.header.Text(key); got != value {
			t.Errorf("header %s: %q, want %q", key, got, value)
		}
	}
	// A reading of a wall clock cannot be finer than its unit, nor, on hardware of this
	// century, as coarse as a second.
	if p, ok := tape.header.Duration(datasets.KeyPrecision); !ok || p < time.Nanosecond || p > time.Second {
		t.Errorf("header precision: %v, %v", p, ok)
	}
	if _, ok := tape.header.Epoch(); !ok {
		t.Error("header: no epoch")
	}
}

func checkRow(t *testing.T, seq int64, e *datasets.Exchange) {
	t.Helper()
	if e.Outcome != datasets.Replied || e.Why != "" || e.Seq != seq || e.Call != seq || e.Attempt != 1 || e.Inflight != 1 {
		t.Errorf("row %d: %+v", seq, e)
	}
	latency, _ := e.Latency()
	wall, _ := e.WallElapsed()
	// T1 is read after Sent, and T4 before the end of Elapsed by the stall.
	if e.Sent < e.Due || e.Elapsed <= 0 || latency < e.Elapsed || e.Stall < 0 || wall+e.Stall > e.Elapsed+stepFloor {
		t.Errorf("row %d: due %v, sent %v, elapsed %v, stall %v", seq, e.Due, e.Sent, e.Elapsed, e.Stall)
	}
	offset, ok := e.Offset()
	delay, _ := e.Delay()
	// The server reads the client's own clock: the truth is 0.
	if !ok || delay < 0 || offset.Abs() > delay/2+1 {
		t.Errorf("row %d: θ %v of a clock against itself, δ %v", seq, offset, delay)
	}
	if runtime.GOOS == "linux" && e.T4.Source() != datasets.Kernel {
		t.Errorf("row %d: T4 by %v, want the kernel", seq, e.T4.Source())
	}
}

// Whatever a server sends, the recording goes on and says what came.
func TestHostileServersDoNotEndARecording(t *testing.T) {
	change := func(f func(*protocol.Packet)) func([]byte) [][]byte {
		return func(request []byte) [][]byte { return [][]byte{goodReply(request, 0, f)} }
	}
	for name, c := range map[string]struct {
		reply func(request []byte) [][]byte
		why   string // empty: the attempt times out
	}{
		"silence":         {func([]byte) [][]byte { return nil }, ""},
		"empty datagram":  {func([]byte) [][]byte { return [][]byte{{}} }, "0 bytes"},
		"one byte":        {func([]byte) [][]byte { return [][]byte{{0x24}} }, "1 bytes"},
		"echo":            {func(request []byte) [][]byte { return [][]byte{request} }, "origin differs"},
		"zeros":           {func([]byte) [][]byte { return [][]byte{make([]byte, 48)} }, "origin differs"},
		"text":            {func([]byte) [][]byte { return [][]byte{[]byte(strings.Repeat("HTTP/1.1 400 Bad Request ", 4))} }, "origin differs"},
		"oversized":       {func(r []byte) [][]byte { return [][]byte{append(goodReply(r, 0, nil), make([]byte, 1000)...)} }, "1048 bytes in reply to 48"},
		"huge":            {func(r []byte) [][]byte { return [][]byte{append(goodReply(r, 0, nil), make([]byte, 20000)...)} }, "bytes in reply to 48"},
		"wrong origin":    {change(func(p *protocol.Packet) { p.OrigTimeSec ^= 1 }), "origin differs"},
		"origin zero":     {change(func(p *protocol.Packet) { p.OrigTimeSec, p.OrigTimeFrac = 0, 0 }), "origin differs"},
		"T3 before T2":    {change(func(p *protocol.Packet) { p.TxTimeSec -= 3 }), "before it received"},
		"T3 late":         {change(func(p *protocol.Packet) { p.TxTimeSec += 3 }), "negative"},
		"control message": {change(func(p *protocol.Packet) { p.Settings = p.Settings&^7 | 6 }), "mode 6"},
		"broadcast":       {change(func(p *protocol.Packet) { p.Settings = p.Settings&^7 | 5 }), "mode 5"},
		"forged DENY": {change(func(p *protocol.Packet) {
			p.Stratum, p.ReferenceID, p.OrigTimeSec = 0, 'D'<<24|'E'<<16|'N'<<8|'Y', 0
		}), "origin differs"},
		"kiss INIT":      {change(func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, 'I'<<24|'N'<<16|'I'<<8|'T' }), `kiss code "INIT"`},
		"unsynchronised": {change(func(p *protocol.Packet) { p.Settings |= 3 << 6 }), "leap 3"},
		"stratum 16":     {change(func(p *protocol.Packet) { p.Stratum = 16 }), "stratum 16"},
		"dispersion":     {change(func(p *protocol.Packet) { p.RootDispersion = 20 << 16 }), "may be off"},
		"all bits set":   {func([]byte) [][]byte { return [][]byte{[]byte(strings.Repeat("\xff", 48))} }, "origin differs"},
	} {
		for _, engine := range []string{"ntp:engine=portable", "ntp:engine=precise"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				t.Parallel()
				everySecond(t, engine, c.reply, c.why)
			})
		}
	}
}

// everySecond has a server of which every second reply is hostile.
func everySecond(t *testing.T, engine string, reply func(request []byte) [][]byte, why string) {
	t.Helper()
	at := serveNTP(t, func(n int, request []byte) [][]byte {
		if n%2 == 0 {
			return reply(request)
		}
		return sound(n, request)
	})
	// The precise engine listens on for its own answer when another comes.
	plan := few(6)
	plan.Listen = datasets.Some(500 * time.Millisecond)
	want := datasets.Invalid
	if why == "" {
		want, plan.Listen = datasets.TimedOut, datasets.Some(20*time.Millisecond)
	}
	tape := &ntpTape{}
	if err := parseNTP(t, engine).Run(t.Context(), at.String(), plan, tape); err != nil {
		t.Fatal(err)
	}
	if len(tape.rows) != 6 {
		t.Errorf("%d rows, want 6", len(tape.rows))
	}
	for i, e := range tape.rows {
		if i%2 == 0 && (e.Outcome != want || why == "" != (e.Why == "") || !strings.Contains(e.Why, why)) {
			t.Errorf("attempt %d: %v %q, want %v %q", i, e.Outcome, e.Why, want, why)
		}
		if i%2 == 1 && e.Outcome != datasets.Replied && want != datasets.TimedOut {
			t.Errorf("attempt %d, after a hostile one: %v %q", i, e.Outcome, e.Why)
		}
	}
}

// Strays that are under way when the next attempt begins spoil that too, and each
// such attempt says so.
func TestAFloodOfStraysIsRecorded(t *testing.T) {
	at := serveNTP(t, func(n int, request []byte) [][]byte {
		if n == 0 {
			return make([][]byte, 100)
		}
		return sound(n, request)
	})
	rows := recordPortable(t, at.String(), few(20)).rows
	for i, e := range rows {
		spoilt := e.Outcome == datasets.Invalid && strings.Contains(e.Why, "0 bytes")
		if !spoilt && e.Outcome != datasets.Replied {
			t.Errorf("attempt %d: %v %q", i, e.Outcome, e.Why)
		}
	}
	if len(rows) != 20 || rows[0].Outcome != datasets.Invalid {
		t.Errorf("%d rows, the first %v", len(rows), rows[0].Outcome)
	}
}

func TestNTPRefused(t *testing.T) {
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	at := c.LocalAddr().String()
	c.Close()
	tape := recordNTP(t, at, few(3))
	for i, e := range tape.rows {
		if e.Outcome != datasets.Refused || e.Why != "" {
			t.Errorf("attempt %d: %v %q, want refused", i, e.Outcome, e.Why)
		}
	}
	if len(tape.rows) != 3 {
		t.Errorf("%d rows, want 3", len(tape.rows))
	}
}

func TestNTPLate(t *testing.T) {
	plan := few(5)
	plan.Deadline = datasets.Some(time.Nanosecond)
	for i, e := range recordNTP(t, serveNTP(t, sound).String(), plan).rows {
		if latency, ok := e.Latency(); e.Outcome != datasets.Late || !ok || latency <= time.Nanosecond {
			t.Errorf("attempt %d: %v, latency %v; want late", i, e.Outcome, latency)
		}
	}
}

// RATE doubles the interval, from below 2 s to 2 s; the next attempt is not waited
// for here.
func TestKissRateIsObeyed(t *testing.T) {
	at := serveNTP(t, func(_ int, request []byte) [][]byte {
		return [][]byte{goodReply(request, 0, func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, 'R'<<24|'A'<<16|'T'<<8|'E' })}
	})
	plan := few(0)
	plan.Duration = time.Second
	tape := recordNTP(t, at.String(), plan)
	if len(tape.rows) != 1 || tape.rows[0].Outcome != datasets.Invalid || tape.rows[0].Reference != "RATE" {
		t.Fatalf("%d rows in 1 s after a RATE at once: %+v", len(tape.rows), tape.rows)
	}
	if tape.trailer["kisses"] != "1" || tape.trailer["interval-at-end"] != "2s" {
		t.Errorf("trailer %v", tape.trailer)
	}
}

func TestKissDenyEndsTheRecording(t *testing.T) {
	for code, id := range map[string]uint32{"DENY": 'D'<<24 | 'E'<<16 | 'N'<<8 | 'Y', "RSTR": 'R'<<24 | 'S'<<16 | 'T'<<8 | 'R'} {
		at := serveNTP(t, func(n int, request []byte) [][]byte {
			if n < 2 {
				return sound(n, request)
			}
			return [][]byte{goodReply(request, 0, func(p *protocol.Packet) { p.Stratum, p.ReferenceID = 0, id })}
		})
		tape := recordNTP(t, at.String(), few(10))
		if len(tape.rows) != 3 || tape.rows[2].Reference != code || !strings.Contains(tape.trailer["stopped"], code) {
			t.Errorf("%s: %d rows, trailer %v", code, len(tape.rows), tape.trailer)
		}
	}
}

func TestNTPStopsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	at := serveNTP(t, func(n int, request []byte) [][]byte {
		if n == 2 {
			stop() // while the probe waits for this answer
			return nil
		}
		return sound(n, request)
	})
	tape := &ntpTape{}
	plan := few(0)
	plan.Listen = datasets.Some(time.Hour)
	if err := parseNTP(t, "ntp").Run(ctx, at.String(), plan, tape); err != nil {
		t.Fatal(err)
	}
	if len(tape.rows) != 2 || tape.trailer[datasets.KeyUnfinished] != "1" {
		t.Errorf("%d rows, trailer %v; want 2 rows and 1 unfinished", len(tape.rows), tape.trailer)
	}
}

func TestARecorderThatFailsEndsTheProbe(t *testing.T) {
	full := errors.New("disk full")
	tape := &ntpTape{each: func(*datasets.Exchange) error { return full }}
	err := parseNTP(t, "ntp").Run(t.Context(), serveNTP(t, sound).String(), few(5), tape)
	if !errors.Is(err, full) || len(tape.rows) != 1 {
		t.Errorf("%v after %d rows", err, len(tape.rows))
	}
}

func TestNTPCannotBegin(t *testing.T) {
	quick := Plan{Interval: 100 * time.Millisecond, Count: 1}
	for _, c := range []struct {
		target, want string
		plan         Plan
	}{
		{"", "names no host", few(1)},
		{"127.0.0.1:0", `port "0": want 1 to 65535`, few(1)},
		{"224.0.1.1", "want one host", few(1)},
		// RFC 5737: a documentation address, which is public by every table, and never asked.
		{"192.0.2.1", "is a public address, to be asked once in 2s at most (--i-own-this-server lifts that)", quick},
		{"127.0.0.1", "count \"-1\"", Plan{Count: -1}},
		{"127.0.0.1", "must be positive and not shorter", Plan{Listen: datasets.Some(-time.Second)}},
	} {
		tape := &ntpTape{}
		var usage *spec.UsageError
		err := parseNTP(t, "ntp").Run(t.Context(), c.target, c.plan, tape)
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || tape.header != nil {
			t.Errorf("%q: %v, want %q before anything is recorded", c.target, err, c.want)
		}
	}
}
