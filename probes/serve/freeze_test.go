package serve_test

import (
	"testing"
	"time"
)

// A client that asks again and again meets the freeze: the request that was under
// way when it began, and those sent meanwhile, wait in the socket and are answered
// when it is over.
func TestFrozenRequestsWait(t *testing.T) {
	const length = 200 * time.Millisecond
	s := start(t, "freeze:after=50ms,for=200ms,every=400ms")
	c, meanwhile := dial(t, s.UDPAddr()), dial(t, s.UDPAddr())
	var sent, back time.Time
	var queued time.Duration
	for seq := uint64(0); queued < length/2; seq++ {
		meanwhile.send(ping(seq))
		sent = time.Now()
		c.send(ping(seq))
		p, a := c.pong()
		queued, back = time.Duration(p.ServerQueued), a.Mono
		if queued > back.Sub(sent)+time.Millisecond { // the two are of different clocks
			t.Fatalf("queued for %v of %v", queued, back.Sub(sent))
		}
		if m, _ := meanwhile.pong(); m.Seq != seq {
			t.Fatalf("reply to %d, want %d", m.Seq, seq)
		}
	}
	for _, f := range s.Stats().UDP.Freezes {
		if end := f.Start.Add(f.Length); sent.Before(end) && !back.Before(end) {
			if f.Length < length {
				t.Errorf("frozen for %v, want at least %v", f.Length, length)
			}
			t.Logf("frozen for %v (asked: %v); a request sent %v after its start was queued for %v",
				f.Length, length, sent.Sub(f.Start), queued)
			return
		}
	}
	t.Errorf("sent %v, back %v: none of the freezes %+v ended in between", sent, back, s.Stats().UDP.Freezes)
}

// To an NTP client a freeze is server time: it waits, but θ stays true.
func TestAFreezeIsNoOffset(t *testing.T) {
	s := start(t, "freeze:after=20ms,for=100ms,every=200ms")
	c := dial(t, s.NTPAddr())
	var longest time.Duration
	for i := uint64(0); longest < 50*time.Millisecond; i++ {
		x := c.ask(i)
		checkTruth(t, []exchange{x}, 0, 0)
		longest = max(longest, time.Duration(x.t3-x.t2))
	}
}

// A request is on its way for as long as it is told to be, frozen server or not.
// Then it waits, if need be, and way out, wait, server and way back add up to no
// more than the client saw.
func TestAFreezeAndADelayDoNotMix(t *testing.T) {
	s := start(t, "freeze:after=20ms,for=100ms,every=200ms", "delay:out=10ms,back=5ms")
	c := dial(t, s.UDPAddr())
	var waited, unhindered bool
	for seq := uint64(0); !waited || !unhindered; seq++ {
		sent := time.Now()
		c.send(ping(seq))
		p, a := c.pong()
		inside, queued := time.Duration(p.ServerSent-p.ServerReceived), time.Duration(p.ServerQueued)
		waited, unhindered = waited || queued > 50*time.Millisecond, unhindered || queued == 0
		if had := time.Duration(p.ServerReceived) % (200 * time.Millisecond); had >= 20*time.Millisecond && had < 120*time.Millisecond {
			t.Fatalf("had at %v, in a freeze", time.Duration(p.ServerReceived))
		}
		if inside < 0 || queued < 0 {
			t.Fatalf("queued for %v, inside for %v", queued, inside)
		}
		if path := a.Mono.Sub(sent) - inside - queued; path < 15*time.Millisecond-time.Millisecond { // two clocks, as above
			t.Fatalf("%v on the way, want the 15ms of the delays", path)
		}
	}
}

func TestBothListenersFreezeAgainAndAgain(t *testing.T) {
	s := start(t, "freeze:after=0s,for=5ms,every=10ms")
	udp, ntp := dial(t, s.UDPAddr()), dial(t, s.NTPAddr())
	for seq := uint64(0); s.Stats().UDP.Frozen < 4 || s.Stats().NTP.Frozen < 4; seq++ {
		udp.send(ping(seq))
		udp.pong()
		ntp.ask(seq)
	}
	stats := s.Stats()
	for i, f := range stats.UDP.Freezes {
		if f.Length <= 0 || (i > 0 && f.Start.Before(stats.UDP.Freezes[i-1].Start.Add(stats.UDP.Freezes[i-1].Length))) {
			t.Errorf("freeze %d: %+v", i, f)
		}
	}
}
