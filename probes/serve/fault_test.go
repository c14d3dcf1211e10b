package serve_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/beevik/ntp"

	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/serve"
)

func TestOffsetIsReadBack(t *testing.T) {
	for _, by := range []time.Duration{1234567, -5 * time.Second, 12 * 365 * 24 * time.Hour} { // the last is in NTP era 1
		t.Run(by.String(), func(t *testing.T) {
			s := start(t, "offset:by="+by.String())
			exchanges, median := dial(t, s.NTPAddr()).askMany(500)
			checkTruth(t, exchanges, by, 0)
			t.Logf("θ: median %v off, of the shortest δ (%v) %v off", median-by, exchanges[0].delta(), exchanges[0].theta()-by)

			c := dial(t, s.UDPAddr())
			before := time.Now()
			c.send(ping(1))
			p, a := c.pong()
			if at := p.ServerReceivedWall - int64(by); at < before.UnixNano() || at > a.Mono.UnixNano() {
				t.Errorf("echo: received %v after it was sent", time.Duration(at-before.UnixNano()))
			}
			if p.ServerSent-p.ServerReceived > int64(a.Mono.Sub(before)) {
				t.Errorf("echo: the offset is in the monotonic stamps: %+v", p)
			}
		})
	}
}

func TestOffsetsAdd(t *testing.T) {
	s := start(t, "offset:by=3s", "offset:by=-1s")
	exchanges, _ := dial(t, s.NTPAddr()).askMany(10)
	checkTruth(t, exchanges, 2*time.Second, 0)
}

// At +20 % the server's clock has gained a fifth of the time since its start.
func TestDriftGrows(t *testing.T) {
	before := time.Now()
	s := start(t, "drift:ppm=200000")
	after := time.Now()
	exchanges, _ := dial(t, s.NTPAddr()).askMany(100)
	for _, x := range exchanges {
		least := time.Unix(0, x.t1).Sub(after.Round(0)) / 5
		most := time.Unix(0, x.t4).Sub(before.Round(0)) / 5
		path := time.Duration(x.t4-x.t1)/2 + 2
		if θ := x.theta(); θ < least-path || θ > most+path {
			t.Fatalf("θ = %v, want between %v and %v", θ, least, most)
		}
	}
}

func TestDelayIsAsymmetric(t *testing.T) {
	s := start(t, "delay:out=3ms,back=1ms")
	exchanges, median := dial(t, s.NTPAddr()).askMany(100)
	checkTruth(t, exchanges, time.Millisecond, 4*time.Millisecond) // (out − back)/2, out + back
	for _, x := range exchanges {
		if x.t3 < x.t2 {
			t.Fatalf("T3 − T2 = %v", time.Duration(x.t3-x.t2))
		}
	}
	late := slices.MaxFunc(exchanges, func(x, y exchange) int { return int(x.t3 - x.t2 - y.t3 + y.t2) })
	t.Logf("θ: median %v off; timers up to %v late", median-time.Millisecond, time.Duration(late.t3-late.t2))

	c := dial(t, s.UDPAddr())
	before := time.Now()
	c.send(ping(1))
	p, a := c.pong()
	inside := time.Duration(p.ServerSent - p.ServerReceived)
	if path := a.Mono.Sub(before) - inside; inside < 0 || path < 4*time.Millisecond {
		t.Errorf("echo: %v on the way, %v inside; want at least 4ms on the way", path, inside)
	}
}

// Every draw is foreseen from the seed, the request's before the reply's.
func TestDelaysAreDrawn(t *testing.T) {
	const mean = float64(2 * time.Millisecond)
	for dist, draw := range map[string]func(*rand.Rand) float64{
		"uniform":   func(rng *rand.Rand) float64 { return 2 * rng.Float64() },
		"exp":       (*rand.Rand).ExpFloat64,
		"lognormal": func(rng *rand.Rand) float64 { return math.Exp(.25 * rng.NormFloat64()) },
	} {
		t.Run(dist, func(t *testing.T) {
			s := start(t, "delay:out=1ms,back=2ms,sigma=0.25,dist="+dist)
			c := dial(t, s.NTPAddr())
			rng := rand.New(rand.NewPCG(1, 1))
			for i := range uint64(50) {
				out := time.Duration(mean / 2 * draw(rng))
				back := time.Duration(mean * draw(rng))
				checkTruth(t, []exchange{c.ask(i)}, (out-back)/2, out+back)
			}
		})
	}
}

// fates returns which of n exchanges a share befalls: by one PCG for each fault,
// seeded with Config.Seed (1 here) and twice the fault's place (plus 1 for NTP).
func fates(share float64, stream uint64, n int) []bool {
	rng := rand.New(rand.NewPCG(1, stream))
	befallen := make([]bool, n)
	for i := range befallen {
		befallen[i] = rng.Float64() < share
	}
	return befallen
}

func TestLossFollowsTheSeed(t *testing.T) {
	const n = 300
	for range 2 { // a second server with the same seed does the same
		s := start(t, "offset", "loss:share=30%")
		udp, ntp := dial(t, s.UDPAddr()), dial(t, s.NTPAddr())
		udpLost, ntpLost := fates(.3, 1<<1, n), fates(.3, 1<<1|1, n)
		for i := range uint64(n) {
			udp.send(ping(i))
			if !udpLost[i] {
				if p, _ := udp.pong(); p.Seq != i {
					t.Fatalf("reply to %d, want %d", p.Seq, i)
				}
			}
			if ntpLost[i] {
				ntp.send(request(i))
			} else {
				ntp.ask(i)
			}
		}
		udp.send(ping(n))
		ntp.send(request(n))
		checkLost(t, s, udpLost, ntpLost)
	}
}

// checkLost waits until everything is read, then counts.
func checkLost(t *testing.T, s *serve.Server, udp, ntp []bool) {
	t.Helper()
	lost := func(fates []bool) (n int64) {
		for _, f := range fates {
			if f {
				n++
			}
		}
		return n
	}
	want := [2]int64{lost(udp), lost(ntp)}
	for s.Stats().UDP.Received <= int64(len(udp)) || s.Stats().NTP.Received <= int64(len(ntp)) {
	}
	stats := s.Stats()
	// The last request of either was not in the forecast.
	if u, n := stats.UDP.Lost-want[0], stats.NTP.Lost-want[1]; u < 0 || u > 1 || n < 0 || n > 1 || want[0] == 0 {
		t.Errorf("lost %d and %d, want %d", stats.UDP.Lost, stats.NTP.Lost, want)
	}
	if stats.UDP.Sent > int64(len(udp))+1-want[0] {
		t.Errorf("%d sent although %d of %d were lost", stats.UDP.Sent, want[0], len(udp))
	}
}

func TestDuplicatesAreCopies(t *testing.T) {
	s := start(t, "duplicate:share=100%,copies=2")
	c := dial(t, s.NTPAddr())
	c.send(request(7))
	first, _ := c.receive()
	first = bytes.Clone(first)
	for range 2 {
		if again, _ := c.receive(); !bytes.Equal(again, first) {
			t.Errorf("copy %x differs from %x", again, first)
		}
	}
	if x := c.ask(8); x.reply.OrigTimeFrac != 8 {
		t.Errorf("another copy of %d", x.reply.OrigTimeFrac)
	}
}

func TestLaterRepliesOvertake(t *testing.T) {
	const batch = 20
	s := start(t, "reorder:share=50%,by=20ms")
	c := dial(t, s.UDPAddr())
	held := fates(.5, 0, 50*batch)
	for round := 0; ; round++ {
		if round == 50 {
			t.Fatal("in 50 rounds no reply was overtaken")
		}
		sent := map[uint64]time.Time{}
		for i := range uint64(batch) {
			seq := uint64(round)*batch + i
			sent[seq] = time.Now()
			c.send(ping(seq))
		}
		var order []uint64
		for range batch {
			p, a := c.pong()
			order = append(order, p.Seq)
			if onItsWay := a.Mono.Sub(sent[p.Seq]); held[p.Seq] && onItsWay < 20*time.Millisecond {
				t.Errorf("reply %d was held, but came after %v", p.Seq, onItsWay)
			}
			delete(sent, p.Seq)
		}
		if len(sent) != 0 {
			t.Fatalf("no reply to %v", sent)
		}
		if !slices.IsSorted(order) {
			return
		}
	}
}

func query(t *testing.T, s *serve.Server) *ntp.Response {
	t.Helper()
	r, err := ntp.QueryWithOptions(s.NTPAddr().String(), ntp.QueryOptions{Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestKissOfDeath(t *testing.T) {
	for _, code := range []string{"RATE", "DENY", "XTMK"} {
		r := query(t, start(t, "kiss:code="+code))
		if r.Stratum != 0 || r.KissCode != code || r.Leap != ntp.LeapNotInSync || !errors.Is(r.Validate(), ntp.ErrKissOfDeath) {
			t.Errorf("%s: %+v, %v", code, r, r.Validate())
		}
	}
	// "Left-justified and zero-padded": RFC 5905, section 7.3.
	s := start(t, "kiss:code=X")
	if x := dial(t, s.NTPAddr()).ask(1); x.reply.ReferenceID != 'X'<<24 || x.reply.Stratum != 0 {
		t.Errorf("X: %+v", x.reply)
	}
}

func TestDispersionIsClaimed(t *testing.T) {
	r := query(t, start(t, "dispersion:claim=2s,delay=500ms"))
	if r.RootDispersion != 2*time.Second || r.RootDelay != 500*time.Millisecond {
		t.Errorf("root dispersion %v, root delay %v, want 2s and 500ms", r.RootDispersion, r.RootDelay)
	}
	if r := query(t, start(t, "dispersion")); r.RootDispersion != 0 {
		t.Errorf("root dispersion %v, want none", r.RootDispersion)
	}
}

func TestTransmitStampAlone(t *testing.T) {
	for _, by := range []time.Duration{3 * time.Second, -3 * time.Second} {
		s := start(t, "t3-before-t2:by="+by.String())
		exchanges, _ := dial(t, s.NTPAddr()).askMany(10)
		checkTruth(t, exchanges, -by/2, by)
		for _, x := range exchanges {
			if (x.t3 < x.t2) != (by > 0) || (x.delta() < 0) != (by < 0) {
				t.Errorf("by %v: T3 − T2 = %v, δ = %v", by, time.Duration(x.t3-x.t2), x.delta())
			}
		}
		c := dial(t, s.UDPAddr())
		c.send(ping(1))
		if p, _ := c.pong(); (p.ServerSent < p.ServerReceived) != (by > 0) {
			t.Errorf("by %v: echo received %d, sent %d", by, p.ServerReceived, p.ServerSent)
		}
	}
}

func TestWrongOrigin(t *testing.T) {
	s := start(t, "wrong-origin")
	c := dial(t, s.NTPAddr())
	c.send(request(0x1122334455667788))
	var x exchange
	if x.take(c); x.reply.OrigTimeSec == 0x11223344 || x.reply.OrigTimeFrac == 0x55667788 {
		t.Errorf("origin %x %x is the right one", x.reply.OrigTimeSec, x.reply.OrigTimeFrac)
	}
	if _, err := ntp.Query(s.NTPAddr().String()); !errors.Is(err, ntp.ErrServerResponseMismatch) {
		t.Errorf("beevik: %v, want %v", err, ntp.ErrServerResponseMismatch)
	}
	u := dial(t, s.UDPAddr())
	u.send(ping(1))
	if p, _ := u.pong(); p.Session == 0x5e55107 {
		t.Error("echo: the session is the right one")
	}
}

func TestRepliesOfAnotherSize(t *testing.T) {
	for fault, want := range map[string]int{
		"short:size=20": 20, "short:size=0": 0, "oversized:size=1024": 1024, "oversized:size=65507": 65507,
	} {
		s := start(t, fault)
		for name, c := range map[string]*client{"ntp": dial(t, s.NTPAddr()), "udp": dial(t, s.UDPAddr())} {
			whole := request(9)
			if name == "udp" {
				whole = ping(9)
			}
			for range 2 {
				c.send(bytes.Repeat([]byte{0xff}, 65507)) // ignored, but it has been in the server's buffer
				c.send(whole)
				b, _ := c.receive()
				if len(b) != want {
					t.Errorf("%s, %s: %d bytes, want %d", fault, name, len(b), want)
				}
				if end := min(len(whole), len(b)); len(bytes.Trim(b[end:], "\x00")) != 0 {
					t.Errorf("%s, %s: padding %x, want zeros", fault, name, b[end:])
				}
			}
		}
	}
}

// A fault that waits pads and seals like one that does not.
func TestFaultsCompose(t *testing.T) {
	s := start(t, "offset:by=1s", "delay:out=2ms", "oversized:size=200", "duplicate:share=1", "t3-before-t2:by=10ms")
	c := dial(t, s.UDPAddr())
	c.send(ping(5))
	first, _ := c.receive()
	first = bytes.Clone(first)
	p, err := echo.Parse(first)
	if err != nil || len(first) != 200 {
		t.Fatalf("%d bytes, %v", len(first), err)
	}
	if early := p.ServerReceived - p.ServerSent; early > int64(10*time.Millisecond) || p.ServerReceivedWall-p.ServerSentWall > int64(10*time.Millisecond) {
		t.Errorf("sent %v before it was received, want at most 10ms", time.Duration(early))
	}
	if again, _ := c.receive(); !bytes.Equal(first, again) {
		t.Error("the copy differs")
	}
}

func TestFaultsAreRefusedByName(t *testing.T) {
	for text, want := range map[string]string{
		"delay:out=2h":               "delay: out and back must be between 0s and 1m",
		"delay:dist=pareto":          `delay: dist "pareto": want fixed, uniform, exp or lognormal`,
		"delay:dist=exp,sigma=NaN":   "delay: sigma must be between 0 and 10",
		"drift:ppm=NaN":              "drift: ppm must be between -500000 and 500000",
		"loss:share=101%":            "loss: share must be between 0% and 100%",
		"duplicate:copies=0":         "duplicate: copies must be between 1 and 100",
		"reorder:by=0s":              "reorder: by must be above 0s and at most 1m",
		"freeze:for=1s,every=1s":     "freeze: every must be longer than for, or nothing is ever answered",
		"freeze:for=-1s":             "freeze: for must be positive, after and times not negative",
		"kiss:code=rate":             "kiss: code must be of the letters A to Z",
		"kiss:code=RATES":            "kiss: code must be one to four letters",
		"dispersion:claim=65536s":    "dispersion: claim and delay must be at least 0s and less than 65536s",
		"short:size=48":              "short: size must be between 0 and 47",
		"oversized:size=65508":       "oversized: size must be between 97 and 65507",
		"wrong-origin:share=-1%":     "wrong-origin: share must be between 0% and 100%",
		"t3-before-t2:share=2,by=1s": "t3-before-t2: share must be between 0% and 100%",
	} {
		var usage *spec.UsageError
		if _, _, err := serve.Faults().Parse("fault", text); !errors.As(err, &usage) || usage.Msg != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
