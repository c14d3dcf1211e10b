package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

func recordSpec(tb testing.TB, text, target string, plan Plan) *ntpTape {
	tb.Helper()
	tape := &ntpTape{}
	if err := parseNTP(tb, text).Run(tb.Context(), target, plan, tape); err != nil {
		tb.Fatal(err)
	}
	return tape
}

// What comes before the answer and is none is passed over and counted, be it a flood.
func TestPreciseListensOnForItsAnswer(t *testing.T) {
	at := serveNTP(t, func(n int, request []byte) [][]byte {
		strays := make([][]byte, 100)
		strays[99] = goodReply(request, time.Hour, func(p *protocol.Packet) { p.OrigTimeFrac++ })
		return append(strays, sound(n, request)...)
	})
	tape := recordSpec(t, "ntp:engine=precise", at.String(), few(5))
	for i, e := range tape.rows {
		if theta, ok := e.Offset(); e.Outcome != datasets.Replied || !ok || theta.Abs() > time.Second {
			t.Errorf("attempt %d: %v %q, θ %v", i, e.Outcome, e.Why, theta)
		}
	}
	if tape.trailer["strays"] != "500" {
		t.Errorf("trailer %v", tape.trailer)
	}
}

// A reply that is a request late, and duplicates, shift nothing: each offset is of its
// own exchange. (Taking the first datagram that comes would read an hour, as the
// server's clock moves by one a request.)
func TestLateRepliesShiftNothing(t *testing.T) {
	var last []byte
	at := serveNTP(t, func(n int, request []byte) [][]byte {
		own := goodReply(request, time.Duration(n)*time.Hour, nil)
		replies := [][]byte{own, own}
		if last != nil {
			replies = append([][]byte{last}, replies...)
		}
		last = own
		return replies
	})
	tape := recordSpec(t, "ntp:engine=precise", at.String(), few(20))
	for i, e := range tape.rows {
		theta, ok := e.Offset()
		if want := time.Duration(i) * time.Hour; !ok || (theta-want).Abs() > time.Minute || e.Outcome != datasets.Replied {
			t.Errorf("attempt %d: θ %v, want %v; %v %q", i, theta, want, e.Outcome, e.Why)
		}
	}
	if len(tape.rows) != 20 || tape.trailer["strays"] != "0" || tape.trailer["after-the-answer"] == "0" {
		t.Errorf("%d rows, trailer %v", len(tape.rows), tape.trailer)
	}
}

// xleave is a server in RFC 9769's interleaved mode. What it says of a reply at once is
// a second early; only the next reply tells the truth.
type xleave struct {
	forget      func(n int) bool // it has lost what it knew of the client
	silent      func(n int) bool
	received    uint64 // T2 of the last reply, as on the wire
	transmitted time.Time
}

func (x *xleave) answer(n int, request []byte) [][]byte {
	var asked protocol.Packet
	if asked.UnmarshalBinary(request) != nil || x.silent != nil && x.silent(n) {
		return nil
	}
	known := uint64(asked.OrigTimeSec)<<32|uint64(asked.OrigTimeFrac) == x.received && x.received != 0
	if x.forget != nil && x.forget(n) {
		known = false
	}
	reply := goodReply(request, 0, func(p *protocol.Packet) {
		x.received = uint64(p.RxTimeSec)<<32 | uint64(p.RxTimeFrac)
		if known {
			p.OrigTimeSec, p.OrigTimeFrac = asked.RxTimeSec, asked.RxTimeFrac
			p.TxTimeSec, p.TxTimeFrac = protocol.Time(x.transmitted)
		}
	})
	x.transmitted = time.Now()
	return [][]byte{reply}
}

// Each exchange is completed by the reply behind it, in order, whatever is lost on
// the way; only the last one cannot be.
func TestInterleaved(t *testing.T) {
	never := func(int) bool { return false }
	for name, c := range map[string]struct {
		x                         xleave
		interleaved, basic, lacks string
	}{
		"sound":            {xleave{}, "19", "0", "1"},
		"one is lost":      {xleave{silent: func(n int) bool { return n == 7 }}, "18", "0", "1"},
		"some are lost":    {xleave{silent: func(n int) bool { return n >= 7 && n < 10 }}, "16", "0", "1"},
		"it forgets once":  {xleave{forget: func(n int) bool { return n == 7 }}, "18", "0", "2"},
		"it never did":     {xleave{forget: func(int) bool { return true }}, "0", "20", "0"},
		"without a memory": {xleave{silent: never, forget: func(n int) bool { return n > 0 }}, "0", "20", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := few(20)
			plan.Listen = datasets.Some(100 * time.Millisecond)
			tape := recordSpec(t, "ntp:engine=precise,mode=interleaved", serveNTP(t, c.x.answer).String(), plan)
			for i, e := range tape.rows {
				theta, ok := e.Offset()
				delta, _ := e.Delay()
				if e.Seq != int64(i) || e.Outcome == datasets.Invalid || ok && (theta.Abs() > delta/2+1) {
					t.Errorf("attempt %d: seq %d %v %q, θ %v δ %v", i, e.Seq, e.Outcome, e.Why, theta, delta)
				}
				if e.T3.Source() == datasets.Kernel && e.T1.Source() != datasets.Kernel && preciseByDefault {
					t.Errorf("attempt %d: T1 by %v beside the kernel's T3", i, e.T1.Source())
				}
				if e.T3.Source() == datasets.User && e.T1.Source() != datasets.User {
					t.Errorf("attempt %d: T1 by %v beside the user's T3", i, e.T1.Source())
				}
			}
			got := tape.trailer
			if len(tape.rows) != 20 || got["interleaved"] != c.interleaved || got["basic"] != c.basic || got["t3-missing"] != c.lacks {
				t.Errorf("%d rows, trailer %v, want %+v", len(tape.rows), got, c)
			}
		})
	}
}

// A T3 that a later reply takes back can prove a lie: here it left before it came.
func TestAnInterleavedLieIsRefused(t *testing.T) {
	x := xleave{}
	at := serveNTP(t, func(n int, request []byte) [][]byte {
		replies := x.answer(n, request)
		if n == 4 {
			x.transmitted = x.transmitted.Add(-time.Second)
		}
		return replies
	})
	for i, e := range recordSpec(t, "ntp:engine=precise,mode=interleaved", at.String(), few(10)).rows {
		if lie := e.Outcome == datasets.Invalid && strings.Contains(e.Why, "before it received"); lie != (i == 4) {
			t.Errorf("attempt %d: %v %q", i, e.Outcome, e.Why)
		}
	}
}
