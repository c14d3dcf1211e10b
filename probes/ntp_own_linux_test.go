package probes

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
	"github.com/tickmark/tickmark/probes/serve"
)

// ownServer serves NTP on loopback with the faults until the test ends.
func ownServer(t *testing.T, faults ...string) *serve.Server {
	t.Helper()
	return ownServerIn(t, func(f func() error) error { return f() }, "127.0.0.1:0", faults...)
}

func ownServerIn(t *testing.T, do func(func() error) error, addr string, faults ...string) (s *serve.Server) {
	t.Helper()
	cfg := serve.Config{NTP: addr, Seed: 1, Stratum: 3}
	for _, text := range faults {
		f, _, err := serve.Faults().Parse("fault", text)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	if err := do(func() (err error) {
		s, err = serve.Start(cfg)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// interleavedRows records n exchanges, one a millisecond.
func interleavedRows(t *testing.T, n int64, target netip.AddrPort) []datasets.Exchange {
	t.Helper()
	tape := &ntpTape{}
	if err := parseNTP(t, "ntp:mode=interleaved").Run(t.Context(), target.String(), Plan{Count: n, Interval: time.Millisecond}, tape); err != nil {
		t.Error(err)
	}
	return tape.rows
}

// On loopback, where all four stamps are the kernel's, what a server adds to its clock
// is read to a microsecond. The machine is shared: the best of five rounds counts.
func TestInterleavedOnLoopback(t *testing.T) {
	if withoutRaceDetector(t) {
		return
	}
	for _, offset := range []time.Duration{0, 1234567, -5 * time.Second} {
		server := ownServer(t, "offset:by="+offset.String())
		best := time.Duration(1 << 62)
		for round := 0; round < 5 && best > interleavedLimit; round++ {
			var errs []time.Duration
			for _, e := range interleavedRows(t, 500, server.NTPAddr()) {
				if theta, ok := e.Offset(); ok {
					errs = append(errs, (theta - offset).Abs())
				}
			}
			if len(errs) == 0 {
				t.Fatalf("offset %v: no exchange has an offset", offset)
			}
			median := quantileOf(errs, .5)
			best = min(best, median)
			t.Logf("offset %v: |error| p50 %v p99 %v of %d", offset, median, quantileOf(errs, .99), len(errs))
		}
		if best > interleavedLimit {
			t.Errorf("offset %v: |error| p50 %v, want at most %v", offset, best, interleavedLimit)
		}
	}
}

// Two goroutines of the server send, one of them half of the replies 5 ms late: each
// departure that is told is of its own reply all the same. One of an earlier reply would
// lie before T2, one of a later reply make θ more than half of δ wrong.
func TestDeparturesOfTwoSenders(t *testing.T) {
	const by = 5 * time.Millisecond
	server := ownServer(t, "reorder:share=50%,by="+by.String())
	var rows [2][]datasets.Exchange
	var both sync.WaitGroup
	for i := range rows {
		both.Go(func() { rows[i] = interleavedRows(t, 200, server.NTPAddr()) })
	}
	both.Wait()
	held, told := 0, 0
	for _, e := range append(rows[0], rows[1]...) {
		theta, ok := e.Offset()
		delta, _ := e.Delay()
		if !ok {
			continue
		}
		if told++; delta >= by {
			held++
		}
		if e.Outcome != datasets.Replied || theta.Abs() > delta/2+1 { // the 1 ns by which a half is cut
			t.Errorf("attempt %d: %v %q: θ %v, δ %v", e.Seq, e.Outcome, e.Why, theta, delta)
		}
	}
	if told < 390 || held < 100 {
		t.Errorf("%d exchanges of 400 have an offset, %d of them were held up", told, held)
	}
}

// A real chronyd believes our server, takes its departures and reads what it adds to
// its clock. It prints microseconds.
func TestLabChronydAsksInterleaved(t *testing.T) {
	lab := netlab.New(t)
	netlab.Need(t, "chronyd")
	if withoutRaceDetector(t) {
		return
	}
	const offset, limit = 1_234_567 * time.Nanosecond, 3 * time.Microsecond
	server := ownServerIn(t, lab.Server.Do, netip.AddrPortFrom(lab.Server.Addr, 123).String(), "offset:by="+offset.String())
	best := time.Duration(1 << 62)
	for round := 0; round < 3 && best > limit; round++ {
		theta := netlab.ChronydQ(t, lab.Client, lab.Server.Addr, "xleave")
		best = min(best, (theta - offset).Abs())
		t.Logf("chronyd -Q xleave reads %v", theta)
	}
	if n := server.Stats().NTP.Interleaved; n == 0 || best > limit {
		t.Errorf("%d interleaved replies; best of three readings %v off, want at most %v", n, best, limit)
	}
}
