package serve_test

import (
	"errors"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/serve"
	"github.com/tickmark/tickmark/probes/stamp"
)

// patience is when a reply that must come is given up; nothing waits for it to pass.
const patience = 20 * time.Second

// start serves both protocols on loopback with the faults, seed 1, until the test ends.
func start(tb testing.TB, faults ...string) *serve.Server {
	tb.Helper()
	return startAt(tb, "127.0.0.1:0", faults...)
}

func startAt(tb testing.TB, addr string, faults ...string) *serve.Server {
	tb.Helper()
	cfg := serve.Config{UDP: addr, NTP: addr, Seed: 1}
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			tb.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	s, err := serve.Start(cfg)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		tb.Skipf("this host has no %s", addr)
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

// client is a socket of which nothing is expected but what the server does.
type client struct {
	testing.TB
	*stamp.Conn
	buf []byte
}

func dial(tb testing.TB, to netip.AddrPort) *client {
	tb.Helper()
	c, err := stamp.Dial(netip.AddrPort{}, to)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	return &client{tb, c, make([]byte, 65535)}
}

func (c *client) send(b []byte) {
	c.Helper()
	if _, err := c.Write(b); err != nil {
		c.Fatal(err)
	}
}

// receive returns the next datagram; its bytes are good until the one after it.
func (c *client) receive() ([]byte, stamp.Arrival) {
	c.Helper()
	a, err := c.Read(c.buf)
	if err != nil {
		c.Fatalf("no reply: %v", err)
	}
	return c.buf[:a.N], a
}

// request is a client's NTP request: version 4, mode 3. The transmit field is any
// number, as a client that does not give its time away would fill it.
func request(transmit uint64) []byte {
	p := protocol.Packet{Settings: 4<<3 | 3, Poll: 6, TxTimeSec: uint32(transmit >> 32), TxTimeFrac: uint32(transmit)}
	b, err := p.Bytes()
	if err != nil {
		panic(err)
	}
	return b
}

// exchange is one NTP exchange, in nanoseconds since 1970.
type exchange struct {
	reply          protocol.Packet
	t1, t2, t3, t4 int64
}

// theta and delta are RFC 5905's offset and delay.
func (x exchange) theta() time.Duration { return time.Duration((x.t2 - x.t1 + x.t3 - x.t4) / 2) }
func (x exchange) delta() time.Duration { return time.Duration(x.t4 - x.t1 - (x.t3 - x.t2)) }

// ask makes one exchange: user T1, kernel T4.
func (c *client) ask(transmit uint64) exchange {
	c.Helper()
	b := request(transmit)
	x := exchange{t1: time.Now().UnixNano()}
	c.send(b)
	x.take(c)
	if got := uint64(x.reply.OrigTimeSec)<<32 | uint64(x.reply.OrigTimeFrac); got != transmit {
		c.Fatalf("origin %#x, want the request's transmit %#x", got, transmit)
	}
	return x
}

func (x *exchange) take(c *client) {
	c.Helper()
	b, a := c.receive()
	if err := x.reply.UnmarshalBinary(b); err != nil {
		c.Fatal(err)
	}
	x.t4, _ = a.Wall.UnixNanos()
	x.t2 = unixNanos(x.reply.RxTimeSec, x.reply.RxTimeFrac)
	x.t3 = unixNanos(x.reply.TxTimeSec, x.reply.TxTimeFrac)
}

// unixNanos reads an NTP timestamp as the time nearest to now, within 68 years.
func unixNanos(seconds, fraction uint32) int64 {
	now := time.Now().Unix()
	ahead := int32(seconds - uint32(now+2_208_988_800))
	return (now+int64(ahead))*int64(time.Second) + int64(fraction)*int64(time.Second)>>32
}

// askMany makes n exchanges and returns them, the shortest δ first, and the median θ.
func (c *client) askMany(n int) (sorted []exchange, median time.Duration) {
	c.Helper()
	var thetas []time.Duration
	for i := range n {
		x := c.ask(uint64(i)<<32 | 0xabcd)
		sorted, thetas = append(sorted, x), append(thetas, x.theta())
	}
	slices.SortFunc(sorted, func(x, y exchange) int { return int(x.delta() - y.delta()) })
	slices.Sort(thetas)
	return sorted, thetas[len(thetas)/2]
}

// checkTruth holds every exchange to the one law that needs no tolerance: with
// `extra` of δ and `truth` of θ put in on purpose, what is left of δ is the path,
// whose asymmetry is at most itself. |θ − truth| ≤ (δ − extra)/2.
func checkTruth(t *testing.T, exchanges []exchange, truth, extra time.Duration) {
	t.Helper()
	for _, x := range exchanges {
		off, path := (x.theta() - truth).Abs(), x.delta()-extra
		if 2*off > path+2 { // both are cut off to whole nanoseconds
			t.Fatalf("θ = %v, δ = %v: more than half of δ − %v from %v", x.theta(), x.delta(), extra, truth)
		}
	}
}

// ping is the request number seq of an echo client.
func ping(seq uint64) []byte {
	p := echo.Packet{Session: 0x5e55107, Seq: seq, ClientSent: int64(seq)}
	return p.Append(nil)
}

func (c *client) pong() (echo.Packet, stamp.Arrival) {
	c.Helper()
	b, a := c.receive()
	p, err := echo.Parse(b)
	if err != nil {
		c.Fatal(err)
	}
	if !p.Reply {
		c.Fatalf("packet %d is no reply", p.Seq)
	}
	return p, a
}
