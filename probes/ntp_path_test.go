package probes

import (
	"errors"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// All sockets of a path have its local port, one after the other.
func TestPathKeepsItsPort(t *testing.T) {
	p, err := openNTPPath(t.Context(), serveNTP(t, sound))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	for range 3 {
		c, err := p.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := c.LocalAddr().(*net.UDPAddr).AddrPort(); got != p.local {
			t.Errorf("local %v, want %v", got, p.local)
		}
		c.Close()
	}
}

// Between two queries nobody else can have the port.
func TestThePortIsHeldBetweenQueries(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holding a port needs Linux")
	}
	p, err := openNTPPath(t.Context(), serveNTP(t, sound))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(p.local)); err == nil {
		c.Close()
		t.Errorf("%v is free while the path is open", p.local)
	}
	p.close()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(p.local))
	if err != nil {
		t.Fatalf("%v is not free when the path is closed: %v", p.local, err)
	}
	c.Close()
}

// Where the port cannot be held, losing it ends the recording with one clear error
// and what was recorded is whole.
func TestALostPortIsAClearError(t *testing.T) {
	remote := serveNTP(t, sound)
	p := &ntpPath{remote: remote}
	c, err := p.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // keeps the port
	p.local = c.LocalAddr().(*net.UDPAddr).AddrPort()
	r := &exchangeRun{
		with: &ntpAsker{engine: &ntpPortable{path: p, version: 4}}, epoch: time.Now(), listen: time.Minute,
		pace: ntpPace{schedule: schedule{interval: time.Millisecond, count: 3}},
	}
	tape := &ntpTape{}
	err = r.record(t.Context(), tape)
	if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), "another program took the port") || tape.trailer == nil {
		t.Errorf("%v, trailer %v", err, tape.trailer)
	}
}

// What cannot be sent is recorded as such, and the trailer says why.
func TestLostLocal(t *testing.T) {
	remote := serveNTP(t, sound)
	// A local address of the other family: the system refuses to make the socket.
	p := &ntpPath{remote: remote, local: remote}
	p.local = netipV6(p.local.Port())
	r := &exchangeRun{
		with: &ntpAsker{engine: &ntpPortable{path: p, version: 4}}, epoch: time.Now(), listen: time.Minute,
		pace: ntpPace{schedule: schedule{interval: time.Millisecond, count: 3}},
	}
	tape := &ntpTape{}
	if err := r.record(t.Context(), tape); err != nil {
		t.Fatal(err)
	}
	for i, e := range tape.rows {
		if e.Outcome != datasets.LostLocal || e.Size != 0 {
			t.Errorf("attempt %d: %v, %d bytes sent", i, e.Outcome, e.Size)
		}
	}
	if len(tape.rows) != 3 || tape.trailer["sent"] != "0" || tape.trailer["send-error"] == "" {
		t.Errorf("%d rows, trailer %v", len(tape.rows), tape.trailer)
	}
}

// The precision is at least what two readings in a row differ by, and at most what
// the slowest of many pairs does.
func TestClockPrecision(t *testing.T) {
	p := clockPrecision()
	var pairs []time.Duration
	for range 1000 {
		a := time.Now()
		pairs = append(pairs, time.Since(a))
	}
	if fastest := slices.Min(pairs); p <= 0 || p < fastest/2 {
		t.Errorf("precision %v, but the fastest of 1000 pairs of readings took %v", p, fastest)
	}
}

func netipV6(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.IPv6Loopback(), port) }
