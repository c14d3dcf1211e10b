package probes

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/netlab"
)

// taiBy makes a master 37 s ahead of UTC, which it announces at most once in every, as
// valid; each is the number of Announces that were due.
func taiBy(every time.Duration) func(b []byte) [][]byte {
	var mu sync.Mutex
	began, said := time.Now(), time.Duration(0)
	return func(b []byte) [][]byte {
		switch wire.PTPType(b[0] & 15) {
		case wire.Announce:
			mu.Lock()
			defer mu.Unlock()
			if time.Since(began) < said+every {
				return nil
			}
			said = time.Since(began)
			b[7] |= byte(wire.FlagUTCOffsetValid | wire.FlagPTPTimescale | wire.FlagLeap61)
			b[45] = 37
		case wire.FollowUp, wire.DelayResp:
			binary.BigEndian.PutUint32(b[36:], binary.BigEndian.Uint32(b[36:])+37)
		default:
		}
		return [][]byte{b}
	}
}

// What a master announces a second after its first Sync holds for the exchanges made
// by then.
func TestExchangesBeforeTheAnnounce(t *testing.T) {
	lab := netlab.New(t)
	startFakeMaster(t, lab.Server, &fakeMaster{change: taiBy(time.Second)})
	tape := &ntpTape{}
	plan := Plan{Count: 30, Interval: 50 * time.Millisecond, Listen: datasets.Some(5 * time.Second)}
	if err := lab.Client.Do(func() error {
		return parseNTP(t, "ptp:mode=unicast").Run(t.Context(), lab.Server.Addr.String(), plan, tape)
	}); err != nil {
		t.Fatal(err)
	}
	if len(tape.rows) != 30 {
		t.Errorf("%d rows", len(tape.rows))
	}
	for i, e := range tape.rows {
		theta, ok := e.Offset()
		if e.Seq != int64(i) || !ok || theta.Abs() > time.Second || e.UTCOffset != datasets.Some(37*time.Second) || e.Leap != datasets.Some(1) {
			t.Errorf("attempt %d, row %d: θ %v, UTC offset %v, leap %v", e.Seq, i, theta, e.UTCOffset, e.Leap)
		}
	}
}

// Another clock's Announce says nothing of the master's, and a master without one is
// waited for no longer than three intervals.
func TestUnannounced(t *testing.T) {
	const interval = 2 * time.Second
	master, other := wire.PortID{Clock: 1, Port: 1}, wire.PortID{Clock: 2, Port: 1}
	u := &ptpUnicast{ptpPeer: &ptpPeer{probe: parseNTP(t, "ptp").(ptpProbe)}, negotiation: newNegotiation(0), master: master}
	u.sessions[0].interval = 1
	var told []datasets.Exchange
	record := func(e *datasets.Exchange) error {
		told = append(told, *e)
		return nil
	}
	add := func(due time.Duration, want int) {
		t.Helper()
		row := datasets.Exchange{Sample: datasets.Sample{Due: datasets.Instant(due), Outcome: datasets.Replied}}
		if err := u.keep(&row, record); err != nil {
			t.Fatal(err)
		}
		if len(told) != want {
			t.Errorf("due %v: %d rows, want %d", due, len(told), want)
		}
	}
	announce := func(from wire.PortID, ahead time.Duration) {
		u.note(&ptpHeard{PTP: wire.PTP{Type: wire.Announce, Source: from, Flags: wire.FlagUTCOffsetValid | wire.FlagPTPTimescale, Announcement: wire.Announcement{UTCOffset: ahead}}, read: thisMoment()})
	}
	add(time.Second, 0)
	announce(other, time.Hour)
	add(time.Second+3*interval, 0)
	add(time.Second+3*interval+1, 3)
	announce(master, 37*time.Second)
	announce(other, time.Hour)
	add(8*time.Second, 4)
	for i, e := range told {
		want := datasets.Optional[time.Duration]{}
		if i == 3 {
			want = datasets.Some(37 * time.Second)
		}
		if e.UTCOffset != want {
			t.Errorf("row %d: UTC offset %v, want %v", i, e.UTCOffset, want)
		}
	}
}

// Masters that are asked side by side share PTP's ports, and each is told from the
// others; whoever ends first takes nothing from them. The last one frees the ports.
func TestSeveralMastersAtOnce(t *testing.T) {
	lab := netlab.New(t)
	p := parseNTP(t, "ptp:mode=unicast")
	counts := map[string]int64{}
	for i, n := range []int64{5, 20, 40} {
		server := lab.Server
		if i > 0 {
			server.Addr = netip.AddrFrom4([4]byte{10, 77, 0, byte(10 + i)})
			if out, err := server.Run(t, "ip", "addr", "add", server.Addr.String()+"/24", "dev", server.Interface); err != nil {
				t.Fatal(err, out)
			}
		}
		counts[server.Addr.String()] = n
		startFakeMaster(t, server, &fakeMaster{change: func(b []byte) [][]byte {
			b[26] = byte(i) // of the clock's identity
			return [][]byte{b}
		}})
	}
	for range 2 {
		var recordings sync.WaitGroup
		for target, n := range counts {
			recordings.Go(func() {
				tape := &ntpTape{}
				plan := Plan{Count: n, Interval: 20 * time.Millisecond, Listen: datasets.Some(5 * time.Second)}
				if err := lab.Client.Do(func() error { return p.Run(t.Context(), target, plan, tape) }); err != nil {
					t.Error(err)
				}
				if int64(len(tape.rows)) != n {
					t.Errorf("%s: %d rows, trailer %v", target, len(tape.rows), tape.trailer)
				}
				for _, e := range tape.rows {
					if theta, ok := e.Offset(); e.Outcome != datasets.Replied || !ok || theta.Abs() > time.Second {
						t.Errorf("%s, attempt %d: %v %s, θ %v", target, e.Seq, e.Outcome, e.Why, theta)
					}
				}
			})
		}
		recordings.Wait()
	}
	err := lab.Client.Do(func() error {
		return p.Run(t.Context(), lab.Server.Addr.String(), Plan{Flow: Flow{Number: 2, Of: 3}}, &ntpTape{})
	})
	if usage := (*spec.UsageError)(nil); !errors.As(err, &usage) {
		t.Errorf("flows: %v", err)
	}
}

// A master sends when it likes: the wait for that is no latency of anybody's.
func TestUnicastIsDueWithTheSync(t *testing.T) {
	lab := netlab.New(t)
	began := time.Now()
	startFakeMaster(t, lab.Server, &fakeMaster{change: func(b []byte) [][]byte {
		if k := wire.PTPType(b[0] & 15); (k == wire.Sync || k == wire.FollowUp) && time.Since(began)%(300*time.Millisecond) > 100*time.Millisecond {
			return nil
		}
		return [][]byte{b}
	}})
	tape := &ntpTape{}
	plan := Plan{Count: 6, Interval: 150 * time.Millisecond, Listen: datasets.Some(2 * time.Second)}
	if err := lab.Client.Do(func() error {
		return parseNTP(t, "ptp:mode=unicast").Run(t.Context(), lab.Server.Addr.String(), plan, tape)
	}); err != nil {
		t.Fatal(err)
	}
	waited := 0
	for i, e := range tape.rows {
		if late, wanted := e.Sent.Sub(e.Due), time.Duration(e.Due)%plan.Interval; e.Outcome != datasets.Replied || late < 0 || late > 50*time.Millisecond {
			t.Errorf("attempt %d: %v, sent %v after its Sync", i, e.Outcome, late)
		} else if wanted > 10*time.Millisecond {
			waited++
		}
	}
	if waited == 0 {
		t.Error("no Sync was waited for: the test shows nothing")
	}
}
