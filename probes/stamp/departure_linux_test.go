package stamp

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// departing returns a socket whose departures the kernel stamps, and one to send to.
func departing(tb testing.TB) (c, to *Conn) {
	tb.Helper()
	to, err := Listen("127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { to.Close() })
	if c, err = Dial(netip.AddrPort{}, to.LocalAddr()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	if err := c.StampDepartures(datasets.Kernel); err != nil {
		tb.Skipf("this kernel stamps no departures: %v", err)
	}
	return c, to
}

// A stamp belongs to the packet whose number it has, also when others were sent in
// between and their stamps never asked for: cause and effect hold it between the
// readings around the send.
func TestDepartureIsOfItsPacket(t *testing.T) {
	c, _ := departing(t)
	for range 200 {
		if _, err := c.Send([]byte("unasked")); err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		number, err := c.Send([]byte("asked"))
		after := time.Now()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Send([]byte("unasked")); err != nil {
			t.Fatal(err)
		}
		s, err := c.Departure(number, after.Add(time.Second))
		at, _ := s.UnixNanos()
		if err != nil || at < before.UnixNano() || at > after.UnixNano() || s.Source() != datasets.Kernel {
			t.Fatalf("packet %d, sent between %d and %d: %v %v %v", number, before.UnixNano(), after.UnixNano(), at, s.Source(), err)
		}
	}
}

// A stamp that does not come is an answer, in time, and later packets keep theirs.
func TestDepartureWithoutAStamp(t *testing.T) {
	c, _ := departing(t)
	if _, err := c.Departure(7, time.Now()); !errors.Is(err, ErrNoStamp) {
		t.Errorf("nothing was sent: %v", err)
	}
	began := time.Now()
	if _, err := c.Departure(7, began.Add(20*time.Millisecond)); !errors.Is(err, ErrNoStamp) || time.Since(began) < 20*time.Millisecond {
		t.Errorf("waited %v: %v", time.Since(began), err)
	}
	number, err := c.Send([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Departure(number, time.Now().Add(time.Second)); err != nil {
		t.Error(err)
	}
}

// A packet that could not be sent does not shift the numbers of those behind it.
func TestNumbersSurviveAFailedSend(t *testing.T) {
	c, _ := departing(t)
	for range 3 {
		if _, err := c.Send(make([]byte, 1<<16)); !errors.Is(err, unix.EMSGSIZE) {
			t.Fatalf("an impossible size: %v", err)
		}
		number, err := c.Send([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Departure(number, time.Now().Add(time.Second)); err != nil {
			t.Error(err)
		}
	}
}

// Stamps that nobody asks for, as of requests to a server that is down, leave room in
// the receive buffer for what arrives; and the last packet's can still be had.
func TestUnaskedStampsLeaveRoom(t *testing.T) {
	c, to := departing(t)
	const granted = 212_992 // net.core.rmem_max as most systems have it
	if err := c.set(unix.SO_RCVBUF, granted); err != nil {
		t.Fatal(err)
	}
	const many = 10_000 // 20 times what fits
	for range many {
		if _, err := c.Send([]byte("unasked")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := to.WriteTo(make([]byte, 1000), c.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1000)); err != nil {
		t.Errorf("what arrives is not heard: %v", err)
	}
	number, err := c.Send([]byte("asked"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Departure(number, time.Now().Add(time.Second)); err != nil || number != many {
		t.Errorf("packet %d: %v", number, err)
	}
}

// Arrivals go on being stamped by the kernel, and the stamp is not made up at the reading.
func TestArrivalsBesideDepartures(t *testing.T) {
	_, to := departing(t)
	if err := to.StampDepartures(datasets.Kernel); err != nil {
		t.Fatal(err)
	}
	client, err := Dial(netip.AddrPort{}, to.LocalAddr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 1000 {
		first, reading := queued(t, to, client)
		at, _ := first.Wall.UnixNanos()
		if first.Wall.Source() == datasets.Kernel && at < reading.UnixNano() {
			return
		}
	}
	t.Error("in 1000 rounds no packet was stamped before its reading began")
}

func TestParseDeparted(t *testing.T) {
	for name, b := range map[string][]byte{"empty": nil, "short": make([]byte, 7), "zeros": make([]byte, 64)} {
		if d := parseDeparted(b); d.numbered || d.soft != 0 || d.hard != 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, ok := parseNumber([]byte{2, 0, 0, 0, unix.SO_EE_ORIGIN_ICMP, 3, 3, 0, 0, 0, 0, 0, 9, 0, 0, 0}); ok {
		t.Error("an ICMP error has a number")
	}
}

func FuzzParseDeparted(f *testing.F) {
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, hard bool) {
		d := parseDeparted(b)
		source := datasets.Kernel
		if hard {
			source = datasets.Hardware
		}
		s, err := d.stamp(source)
		if at, ok := s.UnixNanos(); err == nil && (!ok || at == 0) {
			t.Errorf("%x: a stamp without a time", b)
		}
	})
}

// One packet sent, its departure asked for, received.
func BenchmarkDeparture(b *testing.B) {
	c, to := departing(b)
	buf := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		number, err := c.Send(buf)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Departure(number, time.Now().Add(time.Second)); err != nil {
			b.Fatal(err)
		}
		if _, err := to.Read(buf); err != nil {
			b.Fatal(err)
		}
	}
}

// Who asks for a departure and who reads wait for the same socket, and whichever takes a
// stamp from the kernel, it reaches the one who asks: also a stamp that comes late, as a
// NIC's does, which is made here by asking before the packet is sent.
func TestDepartureBesideARead(t *testing.T) {
	c, to := departing(t)
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		buf := make([]byte, 64)
		for {
			if _, err := c.Read(buf); errors.Is(err, net.ErrClosed) {
				return
			}
		}
	}()
	for i := range uint32(500) {
		asked := make(chan error, 1)
		go func() {
			_, err := c.departure(i, time.Now().Add(5*time.Second))
			asked <- err
		}()
		if i%2 == 0 {
			time.Sleep(100 * time.Microsecond) // so that it waits already
		}
		began := time.Now()
		if number, err := c.Send([]byte("late")); err != nil || number != i {
			t.Fatalf("packet %d: number %d, %v", i, number, err)
		}
		if err := <-asked; err != nil {
			t.Fatalf("packet %d: %v after %v", i, err, time.Since(began))
		}
	}
	c.Close()
	to.Close()
	<-reading
}

// On loopback a stamp is there when the call that sends returns: who asks then, without
// waiting, is told, also when a Read takes it from the kernel in between.
func TestDepartureAtOnceBesideARead(t *testing.T) {
	c, _ := departing(t)
	ended := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 64))
		ended <- err
	}()
	for range 5000 {
		number, err := c.Send([]byte("sent"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Departure(number, time.Time{}); err != nil {
			t.Fatalf("packet %d: %v", number, err)
		}
	}
	c.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
