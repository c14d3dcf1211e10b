package serve_test

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/serve"
	"github.com/tickmark/tickmark/probes/twoway"
)

// reflect starts a Session-Reflector with faults, seed 1.
func reflect(tb testing.TB, cfg serve.STAMP, faults ...string) *serve.Server {
	tb.Helper()
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	all := serve.Config{STAMP: cfg, Seed: 1}
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			tb.Fatal(err)
		}
		all.Faults = append(all.Faults, f)
	}
	s, err := serve.Start(all)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		tb.Skipf("this host has no %s", cfg.Addr)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

const stampKey = "sixteen bytes of"

// testPacket is a sender's packet with a clock of its own: the reflector only copies it.
func testPacket(s *wire.STAMP, seq uint32, ssid uint16, tail ...byte) []byte {
	b := append(make([]byte, s.Size()), tail...)
	s.PutTest(b, &wire.STAMPTest{Seq: seq, SSID: ssid})
	s.Seal(b, wire.STAMPTime(seq)<<32|7, 0x0102)
	return b
}

func TestSTAMPReflects(t *testing.T) {
	for _, addr := range loopbacks {
		for name, cfg := range map[string]serve.STAMP{
			"NTP": {}, "PTP": {Format: twoway.PTP}, "authenticated": {Key: []byte(stampKey)},
		} {
			cfg.Addr = addr
			t.Run(name+" "+addr, func(t *testing.T) { reflectsOne(t, cfg) })
		}
	}
}

func reflectsOne(t *testing.T, cfg serve.STAMP) {
	t.Helper()
	s := reflect(t, cfg)
	c := dial(t, s.STAMPAddr())
	if err := c.SetTTL(77); err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	mode := wire.NewSTAMP(cfg.Key)
	for seq := range uint32(20) {
		before := time.Now().UnixNano()
		sent := testPacket(mode, seq+5, 0x1234)
		c.send(sent)
		b, _ := c.receive()
		p, err := mode.Reflected(b)
		after := time.Now().UnixNano()
		if err != nil || len(b) != len(sent) || !slices.Contains([]uint8{0, 77}, p.TTL) || p.TTL == 0 && runtime.GOOS == "linux" {
			t.Fatalf("%d bytes, %+v, %v", len(b), p, err)
		}
		if want := (wire.STAMPTest{Seq: seq + 5, Time: wire.STAMPTime(seq+5)<<32 | 7, Error: 0x0102}); p.Sender != want || p.SSID != 0x1234 || p.Seq != seq {
			t.Fatalf("%+v", p)
		}
		if _, ok := p.Error.Duration(); !ok || p.Error.PTP() != (cfg.Format == twoway.PTP) {
			t.Fatalf("error estimate %#x", uint16(p.Error))
		}
		t2, ok2 := p.Error.UnixNanos(p.Received, before)
		t3, ok3 := p.Error.UnixNanos(p.Time, before)
		var tai int64 // PTP's times are TAI's where the kernel knows it
		if cfg.Format == twoway.PTP && t2-before > 10e9 {
			tai = (t2 - before) / 1e9 * 1e9
		}
		if !ok2 || !ok3 || !slices.IsSorted([]int64{before, t2 - tai, t3 - tai, after}) {
			t.Fatalf("sent, arrived, answered, back: %d %d %d %d: not in order", before, t2, t3, after)
		}
	}
}

// RFC 8762 §4: a stateless reflector returns the number it got; a stateful one counts
// what it sends, for each session.
func TestSTAMPNumbers(t *testing.T) {
	mode := wire.NewSTAMP(nil)
	for _, stateless := range []bool{true, false} {
		s := reflect(t, serve.STAMP{Stateless: stateless})
		a, b := dial(t, s.STAMPAddr()), dial(t, s.STAMPAddr())
		for _, c := range []struct {
			from             *client
			seq              uint32
			ssid             uint16
			stateful, number uint32
		}{{a, 9, 1, 0, 9}, {a, 11, 1, 1, 11}, {b, 20, 1, 0, 20}, {a, 30, 2, 0, 30}, {a, 11, 1, 2, 11}} {
			c.from.send(testPacket(mode, c.seq, c.ssid))
			got, _ := c.from.receive()
			p, err := mode.Reflected(got)
			want := c.number
			if !stateless {
				want = c.stateful
			}
			if err != nil || p.Seq != want || p.Sender.Seq != c.seq {
				t.Errorf("stateless %v: %+v got %d, want %d, %v", stateless, c, p.Seq, want, err)
			}
		}
	}
}

// Replies are as long as requests and bring back what stands behind the packet, with the
// flags of RFC 8972 §4. What is no request, or not by one who has the key, has no reply.
func TestSTAMPAnswersNoMoreThanItIsAsked(t *testing.T) {
	tail := []byte{0x80, 1, 0, 2, 0xaa, 0xbb, 0x80, 0xf0, 0, 1, 0xcc}
	back := []byte{0, 1, 0, 2, 0xaa, 0xbb, 0x80, 0xf0, 0, 1, 0xcc}
	plain, sealed := wire.NewSTAMP(nil), wire.NewSTAMP([]byte(stampKey))
	s := reflect(t, serve.STAMP{})
	c := dial(t, s.STAMPAddr())
	reply := make([]byte, 44)
	plain.PutReflected(reply, &wire.STAMPReflected{STAMPTest: wire.STAMPTest{Time: 9 << 32}, Received: 9<<32 - 1})
	for _, b := range [][]byte{nil, {1}, make([]byte, 14), make([]byte, 43), reply} {
		c.send(b)
	}
	c.send(testPacket(plain, 1, 1, tail...))
	if got, _ := c.receive(); !bytes.Equal(got[44:], back) {
		t.Errorf("got %x, want %x", got[44:], back)
	}
	if n := s.Stats().STAMP; n.Received != 6 || n.Ignored != 5 {
		t.Errorf("%+v", n)
	}

	s = reflect(t, serve.STAMP{Key: []byte(stampKey)})
	c = dial(t, s.STAMPAddr())
	c.send(make([]byte, 112))
	c.send(testPacket(wire.NewSTAMP([]byte("another sixteen bytes")), 1, 1))
	c.send(testPacket(sealed, 1, 1, tail...)) // TLVs without an HMAC of theirs
	got, _ := c.receive()
	back[0], back[6] = 0x20, 0x20
	if _, err := sealed.Reflected(got); err != nil || !bytes.Equal(got[112:], back) {
		t.Errorf("got %x, want %x, %v", got[112:], back, err)
	}
	if n := s.Stats().STAMP; n.Received != 3 || n.Ignored != 2 {
		t.Errorf("%+v", n)
	}
}

// RFC 8762 §4.6: a TWAMP Light sender's packet may be shorter than ours; the reply is
// not, so that it must be asked for.
func TestSTAMPShort(t *testing.T) {
	s := reflect(t, serve.STAMP{Short: true})
	c := dial(t, s.STAMPAddr())
	c.send(make([]byte, 13))
	sent := testPacket(wire.NewSTAMP(nil), 3, 0)[:14]
	c.send(sent)
	b, _ := c.receive()
	if p, err := wire.NewSTAMP(nil).Reflected(b); err != nil || len(b) != 44 || p.Sender.Seq != 3 || p.Sender.Error != 0x0102 {
		t.Errorf("%d bytes, %+v, %v", len(b), p, err)
	}
	if n := s.Stats().STAMP; n.Ignored != 1 {
		t.Errorf("%+v", n)
	}
}

// The faults do to STAMP what they do to the echo and NTP.
func TestSTAMPFaults(t *testing.T) {
	mode := wire.NewSTAMP([]byte(stampKey))
	ask := func(faults ...string) (p wire.STAMPReflected, now int64) {
		s := reflect(t, serve.STAMP{Key: []byte(stampKey)}, faults...)
		c := dial(t, s.STAMPAddr())
		c.send(testPacket(mode, 8, 1))
		b, _ := c.receive()
		p, err := mode.Reflected(b)
		if err != nil {
			t.Fatal(err)
		}
		return p, time.Now().UnixNano()
	}
	nanos := func(p *wire.STAMPReflected, at wire.STAMPTime, near int64) int64 {
		n, _ := p.Error.UnixNanos(at, near)
		return n
	}
	if p, now := ask("offset:by=1h"); nanos(&p, p.Received, now)-now < int64(59*time.Minute) || nanos(&p, p.Time, now)-now < int64(59*time.Minute) {
		t.Errorf("offset: %+v", p)
	}
	if p, now := ask("t3-before-t2:by=1h"); nanos(&p, p.Received, now) > now || nanos(&p, p.Time, now) > now-int64(59*time.Minute) {
		t.Errorf("t3-before-t2: %+v", p)
	}
	if p, now := ask("delay:out=20ms,back=20ms"); nanos(&p, p.Time, now) > now-int64(20*time.Millisecond) || nanos(&p, p.Received, now) > nanos(&p, p.Time, now) {
		t.Errorf("delay: %+v", p)
	}
	if p, _ := ask("wrong-origin"); p.Sender.Seq == 8 {
		t.Errorf("wrong-origin: %+v", p)
	}
	s := reflect(t, serve.STAMP{}, "loss:share=50%")
	c := dial(t, s.STAMPAddr())
	for seq := range uint32(100) {
		c.send(testPacket(wire.NewSTAMP(nil), seq, 1))
	}
	for end := time.Now().Add(patience); s.Stats().STAMP.Received < 100 && time.Now().Before(end); {
		runtime.Gosched()
	}
	n := s.Stats().STAMP
	if n.Received != 100 || n.Lost < 20 || n.Lost > 80 {
		t.Fatalf("%+v", n)
	}
	for seq := range uint32(100 - n.Lost) {
		b, _ := c.receive()
		if p, err := wire.NewSTAMP(nil).Reflected(b); err != nil || p.Seq != seq {
			t.Fatalf("reply %d has number %d, %v: what was lost before it has none", seq, p.Seq, err)
		}
	}
}
