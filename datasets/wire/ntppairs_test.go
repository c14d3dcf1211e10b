package wire_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

const epoch = int64(1_789_000_000) * int64(time.Second)

// seen is a packet of NTP that passes a capture.
type seen struct {
	wire.Packet
	wire.NTP
}

// ask is a request with ns as its transmit stamp's place.
func ask(at, transmit int64) seen {
	return seen{
		wire.Packet{UnixNanos: epoch + at, Stamped: true, Src: client4, Dst: server4},
		wire.NTP{Version: 4, Mode: wire.ModeClient, Transmit: wire.NTPTimeOf(epoch + transmit)},
	}
}

// tell is a reply to the request with that transmit stamp.
func tell(at, origin, receive, transmit int64) seen {
	return seen{
		wire.Packet{UnixNanos: epoch + at, Stamped: true, Src: server4, Dst: client4},
		wire.NTP{
			Version: 4, Mode: wire.ModeServer, Stratum: 1,
			Origin: wire.NTPTimeOf(epoch + origin), Receive: wire.NTPTimeOf(epoch + receive), Transmit: wire.NTPTimeOf(epoch + transmit),
		},
	}
}

func (s seen) with(change func(*seen)) seen {
	change(&s)
	return s
}

func unstamped(s *seen) { s.Stamped, s.UnixNanos = false, 0 }
func other(s *seen)     { s.Src = netip.AddrPortFrom(s.Src.Addr(), 40001) }
func toOther(s *seen)   { s.Dst = netip.AddrPortFrom(s.Dst.Addr(), 40001) }

// pairNTP returns the exchanges, in times after the epoch, and the counts.
func pairNTP(packets ...seen) ([]string, wire.NTPCounts) {
	var got []string
	pairs := wire.NTPPairs{Emit: func(x *wire.NTPExchange) {
		after := func(s wire.Stamp) string {
			if !s.Set {
				return "-"
			}
			return fmt.Sprint(s.UnixNanos - epoch)
		}
		line := fmt.Sprintf("%v %s %s %s %s", x.Client.Port(), after(x.T1), after(x.T2), after(x.T3), after(x.T4))
		if x.Interleaved {
			line += " interleaved"
		}
		got = append(got, line)
	}}
	for _, s := range packets {
		pairs.Add(&s.Packet, &s.NTP)
	}
	pairs.Close()
	return got, pairs.Counts()
}

func TestNTPPairs(t *testing.T) {
	noTransmit := func(s *seen) { s.Transmit = 0 }
	otherInterface := func(s *seen) { s.Interface = 1 }
	mode := func(m int) func(*seen) { return func(s *seen) { s.Mode = m } }
	n := func(c wire.NTPCounts) wire.NTPCounts { return c }
	for _, c := range []struct {
		name    string
		packets []seen
		want    []string
		counts  wire.NTPCounts
	}{
		{"one", []seen{ask(10, 1), tell(40, 1, 20, 30)}, []string{"40000 10 20 30 40"}, n(wire.NTPCounts{Requests: 1, Replies: 1, Basic: 1, Answered: 1})},
		{"reply first", []seen{tell(40, 1, 20, 30), ask(10, 1)}, []string{"40000 10 20 30 40"}, n(wire.NTPCounts{Requests: 1, Replies: 1, Basic: 1, Answered: 1})},
		{
			"replies out of order",
			[]seen{ask(10, 1), ask(11, 2), tell(40, 2, 21, 31), tell(41, 1, 20, 30)},
			[]string{"40000 11 21 31 40", "40000 10 20 30 41"},
			n(wire.NTPCounts{Requests: 2, Replies: 2, Basic: 2, Answered: 2}),
		},
		{
			"one transmit stamp to all",
			[]seen{ask(10, 1), ask(11, 1).with(other), tell(40, 1, 20, 30).with(toOther), tell(41, 1, 21, 31)},
			[]string{"40001 11 20 30 40", "40000 10 21 31 41"},
			n(wire.NTPCounts{Requests: 2, Replies: 2, Basic: 2, Answered: 2}),
		},
		{"never answered", []seen{ask(10, 1), ask(20, 2)}, nil, n(wire.NTPCounts{Requests: 2, Unanswered: 2})},
		{"never asked", []seen{tell(40, 1, 20, 30), tell(41, 1, 20, 30)}, nil, n(wire.NTPCounts{Replies: 2, Unasked: 1, RepeatedReplies: 1})},
		{"without origin", []seen{ask(10, 1), tell(40, 1, 20, 30).with(func(s *seen) { s.Origin = 0 })}, nil, n(wire.NTPCounts{Requests: 1, Replies: 1, Unasked: 1, Unanswered: 1})},
		{"without transmit", []seen{ask(10, 1).with(noTransmit)}, nil, n(wire.NTPCounts{Requests: 1, Nameless: 1})},
		{"asked elsewhere", []seen{ask(10, 1).with(otherInterface), tell(40, 1, 20, 30)}, nil, n(wire.NTPCounts{Requests: 1, Replies: 1, Unasked: 1, Unanswered: 1})},
		{
			"mirrored", // T1 and T4 are of the first copies
			[]seen{ask(10, 1), ask(12, 1), tell(40, 1, 20, 30), tell(42, 1, 20, 30)},
			[]string{"40000 10 20 30 40"},
			n(wire.NTPCounts{Requests: 2, Replies: 2, Basic: 1, Answered: 1, RepeatedRequests: 1, RepeatedReplies: 1}),
		},
		{
			"asked twice", // which of the two was answered?
			[]seen{ask(10, 1), ask(2_000_000, 1), tell(2_000_030, 1, 2_000_010, 2_000_020)},
			nil,
			n(wire.NTPCounts{Requests: 2, Replies: 1, Answered: 1, Ambiguous: 1, RepeatedRequests: 1}),
		},
		{"unstamped by the server", []seen{ask(10, 1), tell(40, 1, 20, 30).with(func(s *seen) { s.Receive = 0 })}, []string{"40000 10 - 30 40"}, n(wire.NTPCounts{Requests: 1, Replies: 1, Basic: 1, Answered: 1})},
		{"unstamped by the capture", []seen{ask(10, 1).with(unstamped), tell(40, 1, 20, 30).with(unstamped)}, []string{"40000 - 20 30 -"}, n(wire.NTPCounts{Requests: 1, Replies: 1, Basic: 1, Answered: 1})},
		{
			"two peers", // each packet is also the answer to the other's
			[]seen{
				ask(10, 1).with(mode(wire.ModeActive)),
				tell(40, 1, 20, 30).with(mode(wire.ModePassive)),
				ask(90, 80).with(func(s *seen) {
					s.Mode, s.Origin, s.Receive = wire.ModeActive, wire.NTPTimeOf(epoch+30), wire.NTPTimeOf(epoch+45)
				}),
			},
			[]string{"40000 10 20 30 40", "123 40 45 80 90"},
			n(wire.NTPCounts{Requests: 3, Replies: 2, Basic: 2, Answered: 2, Unanswered: 1}),
		},
		{"broadcast", []seen{ask(10, 1).with(mode(wire.ModeBroadcast)), ask(10, 1).with(mode(0))}, nil, n(wire.NTPCounts{Other: 2})},
	} {
		got, counts := pairNTP(c.packets...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.counts, counts); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// interleaved is a request that goes back to the reply of an arrival, and its answer.
func interleaved(at, receive, transmit, before int64) seen {
	return ask(at, transmit).with(func(s *seen) { s.Receive, s.Origin = wire.NTPTimeOf(epoch+receive), wire.NTPTimeOf(epoch+before) })
}

// RFC 9769 §2, figure 1: the server's second reply has as its transmit stamp (t3) when
// the first one left.
func TestNTPPairsInterleaved(t *testing.T) {
	for _, c := range []struct {
		name    string
		packets []seen
		want    []string
		counts  wire.NTPCounts
	}{
		{
			"three",
			[]seen{
				ask(10, 1), tell(40, 1, 20, 29), // basic: T3 of the server's program
				interleaved(110, 41, 101, 20), tell(140, 41, 120, 30), // T3 of the wire, for the one before
				interleaved(210, 141, 201, 120), tell(240, 141, 220, 130),
			},
			[]string{"40000 10 20 29 40", "40000 10 20 30 40 interleaved", "40000 110 120 130 140 interleaved"},
			wire.NTPCounts{Requests: 3, Replies: 3, Basic: 1, Interleaved: 2, Answered: 3, Unfinished: 1},
		},
		{
			"a port for each request", // as chrony has it
			[]seen{
				ask(10, 1), tell(40, 1, 20, 29),
				interleaved(110, 41, 101, 20).with(other), tell(140, 41, 120, 30).with(toOther),
			},
			[]string{"40000 10 20 29 40", "40000 10 20 30 40 interleaved"},
			wire.NTPCounts{Requests: 2, Replies: 2, Basic: 1, Interleaved: 1, Answered: 2, Unfinished: 1},
		},
		{
			"one is lost behind the capture", // the client goes back to the first again
			[]seen{
				ask(10, 1), tell(40, 1, 20, 29),
				interleaved(110, 41, 101, 20), tell(140, 41, 120, 30),
				interleaved(210, 41, 201, 20), tell(240, 41, 220, 30),
			},
			[]string{"40000 10 20 29 40", "40000 10 20 30 40 interleaved"},
			wire.NTPCounts{Requests: 3, Replies: 3, Basic: 1, Interleaved: 1, Answered: 3, Unfinished: 2},
		},
		{
			"two requests with one receive stamp", // of which exchange is the departure?
			[]seen{
				ask(10, 1), tell(40, 1, 20, 29), ask(50, 2), tell(80, 2, 60, 69),
				interleaved(110, 41, 101, 20), interleaved(111, 41, 102, 60), tell(140, 41, 120, 30),
			},
			[]string{"40000 10 20 29 40", "40000 50 60 69 80"},
			wire.NTPCounts{Requests: 4, Replies: 3, Basic: 2, Answered: 3, Unanswered: 1, Ambiguous: 1, Unfinished: 1},
		},
		{
			"two requests that go back to one exchange", // its departure is sure, but not what the reply answers
			[]seen{
				ask(10, 1), tell(40, 1, 20, 29),
				interleaved(110, 41, 101, 20), interleaved(111, 41, 102, 20), tell(140, 41, 120, 30),
				interleaved(210, 141, 201, 120), tell(240, 141, 220, 130),
			},
			[]string{"40000 10 20 29 40", "40000 10 20 30 40 interleaved"},
			wire.NTPCounts{Requests: 4, Replies: 3, Basic: 1, Interleaved: 1, Answered: 3, Unanswered: 1, Ambiguous: 1, Unfinished: 1},
		},
		{
			"the second of them comes behind the reply",
			[]seen{
				ask(10, 1), tell(40, 1, 20, 29),
				interleaved(110, 41, 101, 20), tell(140, 41, 120, 30), interleaved(111, 41, 102, 20),
				interleaved(210, 141, 201, 120), tell(240, 141, 220, 130),
			},
			[]string{"40000 10 20 29 40", "40000 10 20 30 40 interleaved"},
			wire.NTPCounts{Requests: 4, Replies: 3, Basic: 1, Interleaved: 1, Answered: 3, Unanswered: 1, Ambiguous: 1, Unfinished: 1},
		},
		{
			"the capture begins late",
			[]seen{interleaved(110, 41, 101, 20), tell(140, 41, 120, 30)},
			nil,
			wire.NTPCounts{Requests: 1, Replies: 1, Answered: 1, Unfinished: 1},
		},
		{
			"the reply comes first",
			[]seen{ask(10, 1), tell(40, 1, 20, 29), tell(140, 41, 120, 30), interleaved(110, 41, 101, 20)},
			[]string{"40000 10 20 29 40", "40000 10 20 30 40 interleaved"},
			wire.NTPCounts{Requests: 2, Replies: 2, Basic: 1, Interleaved: 1, Answered: 2, Unfinished: 1},
		},
	} {
		got, counts := pairNTP(c.packets...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.counts, counts); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// In 2040 the server's stamps are in era 1, and near the capture's.
func TestNTPPairsPast2036(t *testing.T) {
	late := utc(t, "2040-06-01T00:00:00Z") - epoch
	q, r := ask(late, late+1), tell(late+3, late+1, late+1, late+2)
	got, _ := pairNTP(q, r, ask(late+4, late+5).with(unstamped), tell(late+6, late+5, late+5, late+6).with(unstamped))
	want := []string{fmt.Sprintf("40000 %d %d %d %d", late, late+1, late+2, late+3), fmt.Sprintf("40000 - %d %d -", late+5, late+6)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A million requests that nobody answers take no more memory than some thousands.
func TestNTPPairsAreBounded(t *testing.T) {
	pairs := wire.NTPPairs{Emit: func(*wire.NTPExchange) {}}
	const n = 1_000_000
	for i := range int64(n) {
		q := ask(i*1000, i+1)
		if pairs.Add(&q.Packet, &q.NTP); i == n/2 {
			if c := pairs.Counts(); c.Unanswered < n/2-20_000 {
				t.Fatalf("%d of %d requests wait", n/2-c.Unanswered, n/2)
			}
		}
	}
	pairs.Close()
	if c := pairs.Counts(); c.Unanswered != n {
		t.Errorf("%+v", c)
	}
}

// ntpWorld is a client and a server that keep the rules of RFC 5905 and RFC 9769, on a
// network that does not, and knows what was true.
type ntpWorld struct {
	now     int64
	packets []seen
	left    map[wire.NTPTime]wire.NTPTime // by the server: when the reply to an arrival left
	last    *seen                         // the last reply the client took
	truth   map[int64]ntpTruth            // by T2
	// A lossless capture sees all; then the client may stay at one receive stamp.
	lossless bool
}

type ntpTruth struct {
	client           netip.AddrPort
	t1, t4           []int64 // of the copies that passed the capture
	byUser, byKernel int64   // T3
}

func (w *ntpWorld) tick(ns int64) int64 {
	w.now += 1 + ns
	return w.now
}

// pass lets a packet by the capture: not at all, once, or with copies.
func (w *ntpWorld) pass(s seen, how byte) []int64 {
	var times []int64
	copies := []int64{1, 1, 1, 2, 2, 0, 1, 1}[how&7]
	if w.lossless {
		copies = max(copies, 1)
	}
	for range copies {
		s.UnixNanos = epoch + w.tick(int64(how>>3)*100_000)
		w.packets = append(w.packets, s)
		times = append(times, s.UnixNanos)
	}
	return times
}

func (w *ntpWorld) exchange(how, there, back, fate byte) {
	q := ask(0, w.tick(1))
	q.Src = netip.AddrPortFrom(q.Src.Addr(), 40000+uint16(how>>3))
	wantsInterleaved := how&1 != 0 && w.last != nil
	if wantsInterleaved {
		q.Origin, q.Receive = w.last.Receive, wire.NTPTimeOf(w.last.UnixNanos+7)^1<<63 // no transmit stamp is like it
		if !w.lossless {
			q.Receive += wire.NTPTime(w.now) // chrony fills it up with random bits
		}
	}
	t1 := w.pass(q, there)
	if how&2 != 0 && len(t1) > 0 {
		return // lost behind the capture
	}
	t2 := epoch + w.tick(50)
	r := tell(0, 0, t2-epoch, 0)
	r.Dst = q.Src
	user, kernel := epoch+w.tick(10), epoch+w.tick(5)
	r.Origin, r.Transmit = q.Transmit, wire.NTPTimeOf(user)
	if before, ok := w.left[q.Origin]; ok && wantsInterleaved {
		r.Origin, r.Transmit = q.Receive, before
	}
	w.left[r.Receive] = wire.NTPTimeOf(kernel)
	t4 := w.pass(r, back)
	w.truth[t2] = ntpTruth{q.Src, t1, t4, user, kernel}
	if fate&1 == 0 && len(t4) > 0 {
		r.UnixNanos = t4[0]
		w.last = &r
	}
}

// FuzzNTPPairs holds the pairing to this: whatever is lost, copied or out of order, the
// four stamps of an exchange are of one exchange, and every packet is counted once.
func FuzzNTPPairs(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"), uint8(0))
	f.Add([]byte("\x00\x00\x00\x00\x01\x03\x00\x01\x01\x00\x05\x00\x03\x00\x00\x00\x01\x01\x01\x00"), uint8(3))
	f.Add([]byte("\x01\xff\x0b\x01\x01\x05\x00\x00\x01\x00\x05\x00\x00\x00\x00\x00"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, mixed uint8) {
		w := ntpWorld{left: map[wire.NTPTime]wire.NTPTime{}, truth: map[int64]ntpTruth{}, lossless: mixed&0x80 != 0}
		mixed &= 0x7f
		for ; len(b) >= 4; b = b[4:] {
			w.exchange(b[0], b[1], b[2], b[3])
		}
		for i := int(mixed); mixed > 0 && i+1 < len(w.packets); i += int(mixed) {
			w.packets[i], w.packets[i+1] = w.packets[i+1], w.packets[i]
		}
		pairs := wire.NTPPairs{Emit: func(x *wire.NTPExchange) {
			truth, ok := w.truth[x.T2.UnixNanos]
			t3 := truth.byUser
			if x.Interleaved {
				t3 = truth.byKernel
			}
			if !ok || x.Client != truth.client || !slices.Contains(truth.t1, x.T1.UnixNanos) || !slices.Contains(truth.t4, x.T4.UnixNanos) || x.T3.UnixNanos != t3 {
				t.Fatalf("%+v is not of %+v", *x, truth)
			}
		}}
		for _, s := range w.packets {
			pairs.Add(&s.Packet, &s.NTP)
		}
		pairs.Close()
		c := pairs.Counts()
		if c.Requests+c.Replies != len(w.packets) || c.Answered+c.RepeatedRequests+c.Nameless+c.Unanswered != c.Requests || c.Answered+c.RepeatedReplies+c.Unasked != c.Replies {
			t.Fatalf("%d packets: %+v", len(w.packets), c)
		}
	})
}

func BenchmarkNTPPairs(b *testing.B) {
	for _, interleave := range []bool{false, true} {
		b.Run(fmt.Sprintf("interleaved=%v", interleave), func(b *testing.B) {
			n := 0
			pairs := wire.NTPPairs{Emit: func(*wire.NTPExchange) { n++ }}
			round := func(i int64) {
				q, r := ask(i*1000, i*1000+1), tell(i*1000+30, i*1000+1, i*1000+10, i*1000+20)
				if interleave {
					q.Origin, q.Receive = wire.NTPTimeOf(epoch+i*1000-990), wire.NTPTimeOf(epoch+i*1000-960)
					r.Origin, r.Transmit = q.Receive, wire.NTPTimeOf(epoch+i*1000-980)
				}
				pairs.Add(&q.Packet, &q.NTP)
				pairs.Add(&r.Packet, &r.NTP)
			}
			i := int64(0)
			for ; i < 1<<16; i++ { // the tables are full
				round(i)
			}
			n = 0
			b.ReportAllocs()
			for b.Loop() {
				round(i)
				i++
			}
			if n != b.N {
				b.Fatalf("%d exchanges of %d", n, b.N)
			}
		})
	}
}
