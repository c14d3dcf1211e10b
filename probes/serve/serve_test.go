package serve_test

import (
	"bytes"
	"errors"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/beevik/ntp"

	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/serve"
)

var loopbacks = []string{"127.0.0.1:0", "[::1]:0"}

func TestEchoReturnsTheRequestWithItsStamps(t *testing.T) {
	for _, addr := range loopbacks {
		t.Run(addr, func(t *testing.T) {
			s := startAt(t, addr)
			c := dial(t, s.UDPAddr())
			padding := bytes.Repeat([]byte{0xa5}, 1000)
			var last int64
			for seq := range uint64(50) {
				before := time.Now()
				c.send(append(ping(seq), padding...))
				b, a := c.receive()
				p, err := echo.Parse(b)
				if err != nil || p.Session != 0x5e55107 || p.Seq != seq || p.ClientSent != int64(seq) || !p.Reply {
					t.Fatalf("reply %+v, %v", p, err)
				}
				if len(b) != echo.Size+1000 || !bytes.Equal(b[echo.Size:], padding) {
					t.Fatalf("reply of %d bytes, want the padding back", len(b))
				}
				if p.ServerReceived < last || p.ServerSent < p.ServerReceived {
					t.Fatalf("received at %d, sent at %d, after %d: not in order", p.ServerReceived, p.ServerSent, last)
				}
				last = p.ServerSent
				if inside := time.Duration(p.ServerSent - p.ServerReceived); inside > a.Mono.Sub(before) {
					t.Fatalf("the server had it for %v of %v", inside, a.Mono.Sub(before))
				}
				wall := []int64{before.UnixNano(), p.ServerReceivedWall, p.ServerReceivedWall + p.ServerQueued, p.ServerSentWall, a.Mono.UnixNano()}
				if !slices.IsSorted(wall) {
					t.Fatalf("sent, arrived, read, answered, back: %d, not in order", wall)
				}
			}
		})
	}
}

func TestNTPAnswersWithThisHostsClock(t *testing.T) {
	for _, addr := range loopbacks {
		t.Run(addr, func(t *testing.T) {
			s := startAt(t, addr)
			c := dial(t, s.NTPAddr())
			exchanges, median := c.askMany(300)
			checkTruth(t, exchanges, 0, 0)
			for _, x := range exchanges {
				if x.t3 < x.t2 || x.reply.Settings != 4<<3|4 || x.reply.Poll != 6 || x.reply.Stratum != 1 {
					t.Fatalf("reply %+v: want version 4, mode 4, poll 6, stratum 1, T3 ≥ T2", x.reply)
				}
			}
			best := exchanges[0]
			t.Logf("θ: median %v, of the shortest δ (%v) %v; truth 0", median, best.delta(), best.theta())
		})
	}
}

func TestVersionAndPollAreMirrored(t *testing.T) {
	s := start(t)
	c := dial(t, s.NTPAddr())
	for version := byte(1); version <= 4; version++ {
		b := request(1)
		b[0], b[2] = 3<<6|version<<3|3, 0xfa // an unsynchronised client, poll −6
		c.send(b)
		if r, _ := c.receive(); r[0] != version<<3|4 || r[2] != 0xfa {
			t.Errorf("version %d: reply begins %x, want %x and poll fa", version, r[:3], version<<3|4)
		}
	}
}

// The portable client of the field finds nothing to object to.
func TestBeevikTakesIt(t *testing.T) {
	for _, addr := range loopbacks {
		t.Run(addr, func(t *testing.T) {
			s := startAt(t, addr)
			for _, version := range []int{3, 4} {
				r, err := ntp.QueryWithOptions(s.NTPAddr().String(), ntp.QueryOptions{Timeout: patience, Version: version})
				if err != nil {
					t.Fatal(err)
				}
				if err := r.Validate(); err != nil {
					t.Errorf("version %d: %v", version, err)
				}
				if r.Stratum != 1 || r.ReferenceString() != ".LOCL." || r.Leap != ntp.LeapNoWarning || r.RootDelay != 0 {
					t.Errorf("%+v: want stratum 1, LOCL, no leap, no root delay", r)
				}
				// A clock's precision is its own reading time: between 1 ns and 1 ms on anything that runs Go.
				if r.Precision < time.Nanosecond/2 || r.Precision > time.Millisecond || r.RootDispersion < r.Precision {
					t.Errorf("precision %v, root dispersion %v", r.Precision, r.RootDispersion)
				}
				if off := r.ClockOffset.Abs(); off > r.RTT/2+1 {
					t.Errorf("offset %v with a round trip of %v", r.ClockOffset, r.RTT)
				}
			}
		})
	}
}

func TestStratumIsConfigurable(t *testing.T) {
	s, err := serve.Start(serve.Config{NTP: "127.0.0.1:0", Stratum: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := dial(t, s.NTPAddr()).ask(1)
	if x.reply.Stratum != 7 || x.reply.ReferenceID != 0x7f7f0101 {
		t.Errorf("stratum %d, reference %#x, want 7 and 127.127.1.1", x.reply.Stratum, x.reply.ReferenceID)
	}
	if s.UDPAddr() != (netip.AddrPort{}) {
		t.Errorf("echo at %v, but it was not asked for", s.UDPAddr())
	}
}

// hostile is what neither server may answer.
func hostile() map[string][]byte {
	with := func(b []byte, at int, v byte) []byte { b[at] = v; return b }
	reply := echo.Packet{Reply: true}
	all := map[string][]byte{
		"empty": {}, "one byte": {0x23}, "47 bytes": request(1)[:47], "noise": bytes.Repeat([]byte{0xff}, 1400),
		"version 0": with(request(1), 0, 3), "version 5": with(request(1), 0, 5<<3|3), "echo reply": reply.Append(nil),
	}
	for mode := range byte(8) {
		if mode != 3 {
			all["mode "+string('0'+mode)] = with(request(1), 0, 4<<3|mode)
		}
	}
	return all
}

func TestHostileRequestsAreCountedAndIgnored(t *testing.T) {
	s := start(t)
	udp, ntp := dial(t, s.UDPAddr()), dial(t, s.NTPAddr())
	bad := hostile()
	for _, b := range bad {
		ntp.send(b)
		udp.send(b)
	}
	// What comes next is the reply to the one good request: the order of a socket holds.
	ntp.ask(42)
	udp.send(ping(42))
	if p, _ := udp.pong(); p.Seq != 42 {
		t.Errorf("reply to %d, want 42", p.Seq)
	}
	n := int64(len(bad))
	for name, got := range map[string]serve.Counts{"udp": s.Stats().UDP, "ntp": s.Stats().NTP} {
		if got.Ignored != n || got.Received != n+1 {
			t.Errorf("%s: %+v, want %d of %d ignored", name, got, n, n+1)
		}
	}
}

// Trailing extension fields or a MAC are neither refused nor sent back.
func TestLongRequestsGetShortReplies(t *testing.T) {
	s := start(t)
	c := dial(t, s.NTPAddr())
	c.send(append(request(1), make([]byte, 1000)...))
	if b, _ := c.receive(); len(b) != 48 {
		t.Errorf("reply of %d bytes, want 48", len(b))
	}
}

func TestStartRefuses(t *testing.T) {
	taken, err := serve.Start(serve.Config{UDP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, cfg := range map[string]serve.Config{
		"neither":   {},
		"stratum":   {NTP: "127.0.0.1:0", Stratum: 17},
		"address":   {UDP: "127.0.0.1"},
		"one taken": {UDP: "127.0.0.1:0", NTP: taken.UDPAddr().String()},
	} {
		if s, err := serve.Start(cfg); err == nil || !strings.HasPrefix(err.Error(), "serve: ") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	s := start(t, "delay:out=1m,back=1m", "freeze:after=0s,for=1h,every=2h")
	again := start(t, "delay:back=1m")
	c := dial(t, again.NTPAddr())
	c.send(request(1))
	for again.Stats().NTP.Waiting == 0 {
		runtime.Gosched()
	}
	for range 2 { // closing twice is fine
		if err := errors.Join(s.Close(), again.Close()); err != nil {
			t.Error(err)
		}
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, own := range []string{"serve.(*listener)", "serve.(*delayLine)"} {
		if bytes.Contains(stacks, []byte(own)) {
			t.Errorf("after Close %s is still running", own)
		}
	}
	c.send(request(2))
	if _, err := c.Read(c.buf); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after Close: %v, want %v", err, syscall.ECONNREFUSED)
	}
}

func BenchmarkEcho(b *testing.B) {
	s := start(b)
	c := dial(b, s.UDPAddr())
	request := ping(1)
	b.ReportAllocs()
	for b.Loop() {
		c.send(request)
		c.receive()
	}
}

func BenchmarkNTPReply(b *testing.B) {
	s := start(b)
	c := dial(b, s.NTPAddr())
	r := request(1)
	b.ReportAllocs()
	for b.Loop() {
		c.send(r)
		c.receive()
	}
}
