package serve_test

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/tickmark/tickmark/probes/serve"
	"github.com/tickmark/tickmark/probes/stamp"
)

// interleavedClient fills the three times of its requests as it likes.
type interleavedClient struct {
	*client
	reply   ntpTimes // the last one
	arrival stamp.Arrival
}

func dialInterleaved(t *testing.T, faults ...string) (*interleavedClient, *serve.Server) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("stamps of departures need Linux")
	}
	s := start(t, faults...)
	return &interleavedClient{client: dial(t, s.NTPAddr())}, s
}

func (c *interleavedClient) ask(origin, receive, transmit uint64) ntpTimes {
	c.Helper()
	b := request(transmit)
	binary.BigEndian.PutUint64(b[24:], origin)
	binary.BigEndian.PutUint64(b[32:], receive)
	c.send(b)
	for {
		reply, a := c.receive()
		if len(reply) < 48 {
			c.Fatalf("reply of %d bytes", len(reply))
		}
		field := func(at int) uint64 { return binary.BigEndian.Uint64(reply[at:]) }
		r := ntpTimes{field(24), field(32), field(40)}
		if r != c.reply { // else it is a copy
			c.reply, c.arrival = r, a
			return r
		}
	}
}

// ntpTimes is what a reply says, as on the wire.
type ntpTimes struct{ origin, received, transmit uint64 }

// The second reply tells when the first really left: after the transmit time that it
// gave itself, and before the second request was received. A request that names no
// reply of the server's, or does not ask for it, is answered in basic mode.
func TestInterleavedReplies(t *testing.T) {
	c, s := dialInterleaved(t)
	first := c.ask(0, 0, 11)
	if first.origin != 11 {
		t.Fatalf("origin %x of a basic reply", first.origin)
	}
	second := c.ask(first.received, 22, 23)
	if second.origin != 22 || second.transmit <= first.transmit || second.transmit >= second.received {
		t.Errorf("the first reply said %x, the second %x", first, second)
	}
	for name, r := range map[string]ntpTimes{
		"of another server's reply": c.ask(first.received+2, 32, 33),
		"not asked for":             c.ask(second.received, 33, 33),
		"without a receive time":    c.ask(second.received, 0, 33),
		"without an origin":         c.ask(0, 32, 33),
		// As a basic client sends it back: RFC 5905's origin.
		"by the time it left": c.ask(second.transmit, 32, 33),
	} {
		if r.origin != 33 {
			t.Errorf("%s: origin %x, want a basic reply", name, r.origin)
		}
	}
	checkInterleaved(t, s, 1)
}

// A departure is told once: "The receive timestamp MUST NOT be used again to detect a
// request conforming to the interleaved mode" (RFC 9769, section 2). What asked in vain
// does not use it up.
func TestADepartureIsToldOnce(t *testing.T) {
	c, _ := dialInterleaved(t)
	first := c.ask(0, 0, 11)
	if r := c.ask(first.received, 23, 23); r.origin != 23 {
		t.Errorf("origin %x of a basic reply", r.origin)
	}
	if r := c.ask(first.received, 32, 33); r.origin != 32 {
		t.Errorf("origin %x, want an interleaved reply", r.origin)
	}
	if r := c.ask(first.received, 42, 43); r.origin != 43 {
		t.Errorf("asked again: origin %x, want a basic reply", r.origin)
	}
}

// What a fault does to T3 it does to the one that is told later too, whoever sends the
// reply: without it a reply leaves after the time that it tells and before it arrives.
func TestFaultsReachTheDeparture(t *testing.T) {
	for fault, shift := range map[string]time.Duration{
		"offset:by=1h":             time.Hour,
		"offset:by=-1h":            -time.Hour,
		"t3-before-t2:by=3s":       -3 * time.Second,
		"reorder:share=1,by=1ms":   -time.Millisecond,
		"delay:out=1ms,back=2ms":   -2 * time.Millisecond,
		"delay:out=2ms":            0,
		"freeze:after=0s,for=10ms": 0,
		"oversized:size=100":       0,
		"duplicate:share=1":        0,
	} {
		t.Run(fault, func(t *testing.T) { checkDeparture(t, shift, fault) })
	}
	t.Run("two", func(t *testing.T) {
		checkDeparture(t, time.Hour-time.Millisecond, "offset:by=1h", "delay:back=1ms")
	})
}

// checkDeparture holds the departures that a server tells to what happened, less the
// shift that its faults make of T3.
func checkDeparture(t *testing.T, shift time.Duration, faults ...string) {
	t.Helper()
	c, s := dialInterleaved(t, faults...)
	before := c.ask(0, 0, 1)
	for n := range uint64(20) {
		arrived, _ := c.arrival.Wall.UnixNanos()
		next := c.ask(before.received, 2*n+2, 2*n+3)
		if next.origin != 2*n+2 {
			t.Fatalf("exchange %d: origin %x, want an interleaved reply", n, next.origin)
		}
		left := wireNanos(next.transmit) - int64(shift)
		if left > arrived {
			t.Errorf("exchange %d: it left %v after it arrived", n, time.Duration(left-arrived))
		}
		if told := wireNanos(before.transmit) - int64(shift); n == 0 && left < told {
			t.Errorf("it left %v before it was sealed", time.Duration(told-left))
		}
		if left < wireNanos(before.received)-int64(shift) && shift == 0 {
			t.Errorf("exchange %d: it left before its request came", n)
		}
		before = next
	}
	checkInterleaved(t, s, 20)
}

// checkInterleaved closes the server: until then it may not have counted its last reply.
func checkInterleaved(t *testing.T, s *serve.Server, want int64) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := s.Stats().NTP.Interleaved; n != want {
		t.Errorf("%d interleaved replies counted, want %d", n, want)
	}
}

func wireNanos(t uint64) int64 { return unixNanos(uint32(t>>32), uint32(t)) }
