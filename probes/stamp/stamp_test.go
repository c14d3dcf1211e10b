package stamp_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/stamp"
)

// pair returns a listening socket and one connected to it.
func pair(tb testing.TB, addr string) (server, client *stamp.Conn) {
	tb.Helper()
	server, err := stamp.Listen(addr)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		tb.Skipf("this host has no %s", addr)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { server.Close() })
	client, err = stamp.Dial(netip.AddrPort{}, server.LocalAddr())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { client.Close() })
	return server, client
}

func read(tb testing.TB, c *stamp.Conn, buf []byte) stamp.Arrival {
	tb.Helper()
	a, err := c.Read(buf)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

func write(tb testing.TB, c *stamp.Conn, b []byte) {
	tb.Helper()
	if _, err := c.Write(b); err != nil {
		tb.Fatal(err)
	}
}

func TestArrivalIsStampedBetweenSendingAndReading(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(addr, func(t *testing.T) {
			server, client := pair(t, addr)
			before := time.Now()
			write(t, client, []byte("ping"))
			buf := make([]byte, 64)
			a := read(t, server, buf)
			if got := string(buf[:a.N]); got != "ping" || a.Truncated {
				t.Errorf("read %q (truncated %v), want \"ping\"", got, a.Truncated)
			}
			if a.From != client.LocalAddr() {
				t.Errorf("came from %v, want %v", a.From, client.LocalAddr())
			}
			checkTimes(t, a, before, server.KernelStamps())

			if _, err := server.WriteTo([]byte("pong"), a.From); err != nil {
				t.Fatal(err)
			}
			if b := read(t, client, buf); b.From != server.LocalAddr() || string(buf[:b.N]) != "pong" {
				t.Errorf("read %q from %v, want \"pong\" from %v", buf[:b.N], b.From, server.LocalAddr())
			}
		})
	}
}

// checkTimes holds an arrival to the order of cause and effect: sent, arrived, read.
func checkTimes(t *testing.T, a stamp.Arrival, sent time.Time, kernel bool) {
	t.Helper()
	wall, ok := a.Wall.UnixNanos()
	if !ok || wall < sent.UnixNano() || wall > a.Mono.UnixNano() {
		t.Errorf("arrival at %d (%v) is not within [%d sent, %d read]", wall, ok, sent.UnixNano(), a.Mono.UnixNano())
	}
	want := datasets.User
	if kernel {
		want = datasets.Kernel
	}
	if a.Wall.Source() != want {
		t.Errorf("stamp is from %v, want %v", a.Wall.Source(), want)
	}
	if wait := time.Duration(a.Mono.UnixNano() - wall); a.Waited != wait {
		t.Errorf("waited %v, want read − arrival = %v", a.Waited, wait)
	}
}

// A listener on all addresses sees IPv4 senders through an IPv6 socket; they are
// named as IPv4 all the same, and can be answered under that name.
func TestFromIsNeverAMappedAddress(t *testing.T) {
	server, err := stamp.Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), server.LocalAddr().Port())
	client, err := stamp.Dial(netip.AddrPort{}, to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	write(t, client, []byte("ping"))
	buf := make([]byte, 64)
	a := read(t, server, buf)
	if a.From != client.LocalAddr() || !a.From.Addr().Is4() {
		t.Errorf("came from %v, want %v", a.From, client.LocalAddr())
	}
	if _, err := server.WriteTo(buf[:a.N], a.From); err != nil {
		t.Errorf("answering %v: %v", a.From, err)
	}
	read(t, client, buf)
}

func TestDialKeepsTheLocalAddress(t *testing.T) {
	server, first := pair(t, "127.0.0.1:0")
	at := first.LocalAddr()
	first.Close()
	again, err := stamp.Dial(at, server.LocalAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.LocalAddr() != at {
		t.Errorf("bound to %v, want %v", again.LocalAddr(), at)
	}
}

func TestReadHonoursItsDeadline(t *testing.T) {
	server, _ := pair(t, "127.0.0.1:0")
	if err := server.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read after the deadline: %v, want %v", err, os.ErrDeadlineExceeded)
	}
}

func TestCloseEndsARead(t *testing.T) {
	server, _ := pair(t, "127.0.0.1:0")
	ended := make(chan error)
	go func() {
		_, err := server.Read(make([]byte, 8))
		ended <- err
	}()
	server.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("read of a closed socket: %v, want %v", err, net.ErrClosed)
	}
}

func TestAClosedPortRefuses(t *testing.T) {
	server, client := pair(t, "127.0.0.1:0")
	server.Close()
	write(t, client, []byte("anyone?"))
	if _, err := client.Read(make([]byte, 8)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("read: %v, want %v", err, syscall.ECONNREFUSED)
	}
}

func TestListenNamesABadAddress(t *testing.T) {
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:70000", "127.0.0.1:no-such-service"} {
		if c, err := stamp.Listen(addr); err == nil {
			c.Close()
			t.Errorf("listening on %q went well", addr)
		}
	}
}

func TestReadingDoesNotAllocate(t *testing.T) {
	server, client := pair(t, "127.0.0.1:0")
	buf, ping := make([]byte, 64), make([]byte, 48)
	if n := testing.AllocsPerRun(100, func() {
		write(t, client, ping)
		a := read(t, server, buf)
		if _, err := server.WriteTo(buf[:a.N], a.From); err != nil {
			t.Fatal(err)
		}
		read(t, client, buf)
	}); n > 0 {
		t.Errorf("a round trip allocates %v times", n)
	}
}

// BenchmarkRead is one round trip over loopback, and how long a packet waits
// between the kernel's stamp and the reader's.
func BenchmarkRead(b *testing.B) {
	server, client := pair(b, "127.0.0.1:0")
	buf, ping := make([]byte, 64), make([]byte, 48)
	var waits []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		write(b, client, ping)
		waits = append(waits, read(b, server, buf).Waited)
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2]), "ns-waited-p50")
}
