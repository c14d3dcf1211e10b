package wire_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

// heard is a message of PTP that passes a capture.
type heard struct {
	wire.Packet
	wire.PTP
}

var (
	everybody = netip.MustParseAddr("224.0.1.129")
	linkPeers = netip.MustParseAddr("224.0.0.107")
	masterIP  = netip.MustParseAddr("192.0.2.1")
	slaveIP   = netip.MustParseAddr("192.0.2.2")
)

func master(n uint16) wire.PortID { return wire.PortID{Clock: 0xaaaaaafffeaaaaaa, Port: n} }
func slave(n uint16) wire.PortID  { return wire.PortID{Clock: 0xbbbbbbfffebbbbbb, Port: n} }

// say is a message of a port at a time after the epoch, with a stamp of the server's.
func say(kind wire.PTPType, source wire.PortID, sequence uint16, at, told int64) heard {
	h := heard{
		wire.Packet{UnixNanos: epoch + at, Stamped: true, Src: netip.AddrPortFrom(masterIP, 319), Dst: netip.AddrPortFrom(everybody, 319)},
		wire.PTP{Type: kind, Source: source, Sequence: sequence},
	}
	if told != 0 {
		h.Timestamp = wire.PTPTime{Seconds: uint64(epoch+told) / 1e9, Nanos: uint32((epoch + told) % 1e9)}
	}
	if source.Clock == slave(1).Clock {
		h.Src = netip.AddrPortFrom(slaveIP, 319)
	}
	if kind == wire.PdelayReq || kind == wire.PdelayResp || kind == wire.PdelayRespFollowUp {
		h.Dst = netip.AddrPortFrom(linkPeers, 319)
	}
	return h
}

func (h heard) with(changes ...func(*heard)) heard {
	for _, change := range changes {
		change(&h)
	}
	return h
}

func twoStep(h *heard)               { h.Flags |= wire.FlagTwoStep }
func to1(p wire.PortID) func(*heard) { return func(h *heard) { h.Requesting = p } }
func corrected(ns int64) func(*heard) {
	return func(h *heard) { h.Correction = wire.Correction(ns << 16) }
}
func inDomain(d uint8) func(*heard) { return func(h *heard) { h.Domain = d } }
func unicast(to netip.Addr) func(*heard) {
	return func(h *heard) { h.Dst, h.Flags = netip.AddrPortFrom(to, 319), h.Flags|wire.FlagUnicast }
}

// pairPTP returns the exchanges, in times after the epoch and corrections in ns, and
// the counts.
func pairPTP(messages ...heard) ([]string, wire.PTPCounts) {
	var got []string
	pairs := wire.PTPPairs{Emit: func(x *wire.PTPExchange) { got = append(got, printed(x)) }}
	for _, h := range messages {
		pairs.Add(&h.Packet, &h.PTP)
	}
	pairs.Close()
	return got, pairs.Counts()
}

func printed(x *wire.PTPExchange) string {
	after := func(s wire.Stamp) string {
		if !s.Set {
			return "-"
		}
		return fmt.Sprint(s.UnixNanos - epoch)
	}
	ns := func(c wire.Correction) string {
		if d, ok := c.Duration(); ok {
			return fmt.Sprint(int64(d))
		}
		return "too big"
	}
	words := []string{
		fmt.Sprintf("%v %d: %d", x.Kind, x.Sequence, x.Server.Port), after(x.T1), after(x.T2), after(x.T3), after(x.T4),
		"−" + ns(x.CorrectionOut), "−" + ns(x.CorrectionBack),
	}
	if x.Announced {
		words = append(words, x.Announcement.UTCOffset.String())
	}
	return strings.Join(words, " ")
}

func TestPTPPairs(t *testing.T) {
	sync := func(n uint16, at int64) heard { return say(wire.Sync, master(1), n, at, 0).with(twoStep) }
	follow := func(n uint16, at, told int64) heard { return say(wire.FollowUp, master(1), n, at, told) }
	req := func(n uint16, at int64) heard { return say(wire.DelayReq, slave(1), n, at, 0) }
	resp := func(n uint16, at, told int64) heard {
		return say(wire.DelayResp, master(1), n, at, told).with(to1(slave(1)))
	}
	preq := func(n uint16, at int64) heard { return say(wire.PdelayReq, slave(1), n, at, 0) }
	presp := func(n uint16, at, told int64) heard {
		return say(wire.PdelayResp, master(1), n, at, told).with(to1(slave(1)))
	}
	pfollow := func(n uint16, at, told int64) heard {
		return say(wire.PdelayRespFollowUp, master(1), n, at, told).with(to1(slave(1)))
	}
	fromMaster := func(n uint16) func(*heard) { return func(h *heard) { h.Source = master(n) } }
	simple := func(h *heard) { h.Flags |= wire.FlagProfile1 }
	announced := func(h *heard) { h.Announcement.UTCOffset = 37 * time.Second }
	for _, c := range []struct {
		name     string
		messages []heard
		want     []string
		counts   wire.PTPCounts
	}{
		{
			"two steps, end to end",
			[]heard{
				sync(7, 30).with(corrected(2)), follow(7, 31, 20).with(corrected(3)),
				req(9, 40).with(corrected(1000)), resp(9, 60, 50).with(corrected(4)),
			},
			[]string{"one-way 7: 1 - - 20 30 −0 −5", "end-to-end 9: 1 40 50 20 30 −4 −5"},
			wire.PTPCounts{Messages: 4, OneWay: 1, EndToEnd: 1},
		},
		{
			"one step",
			[]heard{say(wire.Sync, master(1), 7, 30, 20).with(corrected(-2)), req(9, 40), resp(9, 60, 50)},
			[]string{"one-way 7: 1 - - 20 30 −0 −-2", "end-to-end 9: 1 40 50 20 30 −0 −-2"},
			wire.PTPCounts{Messages: 3, OneWay: 1, EndToEnd: 1},
		},
		{
			"everything backwards",
			[]heard{follow(7, 31, 20), sync(7, 30), resp(9, 60, 50), req(9, 40)},
			[]string{"one-way 7: 1 - - 20 30 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0"},
			wire.PTPCounts{Messages: 4, OneWay: 1, EndToEnd: 1},
		},
		{
			"the number begins anew",
			[]heard{sync(65535, 30), sync(0, 32), follow(0, 33, 22), follow(65535, 34, 20)},
			[]string{"one-way 0: 1 - - 22 32 −0 −0", "one-way 65535: 1 - - 20 30 −0 −0"},
			wire.PTPCounts{Messages: 4, OneWay: 2},
		},
		{
			"a number of long ago",
			[]heard{sync(7, 30), follow(7, 512e9, 512e9-10), sync(7, 2000e9), req(9, 2001e9), resp(9, 3000e9, 3000e9)},
			nil,
			wire.PTPCounts{Messages: 5, SyncWithoutFollowUp: 2, FollowUpWithoutSync: 1, DelayReqWithoutResp: 1, DelayRespWithoutReq: 1},
		},
		{
			"two masters, two domains",
			[]heard{
				sync(7, 30), sync(7, 31).with(fromMaster(2)), sync(7, 32).with(inDomain(1)),
				follow(7, 33, 21).with(fromMaster(2)), follow(7, 34, 22).with(inDomain(1)), follow(7, 35, 20),
				req(9, 40), req(9, 41).with(inDomain(1)), resp(9, 60, 51).with(inDomain(1)), resp(9, 61, 50),
			},
			[]string{
				"one-way 7: 2 - - 21 31 −0 −0", "one-way 7: 1 - - 22 32 −0 −0", "one-way 7: 1 - - 20 30 −0 −0",
				"end-to-end 9: 1 41 51 22 32 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0",
			},
			wire.PTPCounts{Messages: 10, OneWay: 3, EndToEnd: 2},
		},
		{
			"two masters answer one request",
			[]heard{
				sync(7, 30), follow(7, 31, 20), sync(3, 32).with(fromMaster(2)), follow(3, 33, 22).with(fromMaster(2)),
				req(9, 40), resp(9, 60, 50), resp(9, 61, 51).with(fromMaster(2)), resp(9, 62, 51).with(fromMaster(3)),
			},
			[]string{"one-way 7: 1 - - 20 30 −0 −0", "one-way 3: 2 - - 22 32 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0", "end-to-end 9: 2 40 51 22 32 −0 −0"},
			wire.PTPCounts{Messages: 8, OneWay: 2, EndToEnd: 2, DelayWithoutSync: 1},
		},
		{
			"unicast: each slave has its own numbers",
			[]heard{
				sync(7, 30).with(unicast(slaveIP)), sync(7, 31).with(unicast(linkPeers.Next())),
				follow(7, 32, 21).with(unicast(linkPeers.Next())), follow(7, 33, 20).with(unicast(slaveIP)),
				req(9, 40).with(unicast(masterIP)), resp(9, 60, 50).with(unicast(slaveIP)),
			},
			[]string{"one-way 7: 1 - - 21 31 −0 −0", "one-way 7: 1 - - 20 30 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0"},
			wire.PTPCounts{Messages: 6, OneWay: 2, EndToEnd: 1},
		},
		{
			"Sync to all, delay to one",
			[]heard{sync(7, 30), follow(7, 31, 20), req(9, 40).with(unicast(masterIP)), resp(9, 60, 50).with(unicast(slaveIP)), req(10, 70), resp(10, 90, 80).with(unicast(slaveIP))},
			[]string{"one-way 7: 1 - - 20 30 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0", "end-to-end 10: 1 70 80 20 30 −0 −0"},
			wire.PTPCounts{Messages: 6, OneWay: 1, EndToEnd: 2},
		},
		{
			"mirrored", // the first copy of each
			[]heard{sync(7, 30), sync(7, 33), follow(7, 34, 20), follow(7, 35, 20), req(9, 40), req(9, 43), resp(9, 60, 50), resp(9, 61, 50)},
			[]string{"one-way 7: 1 - - 20 30 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0"},
			wire.PTPCounts{Messages: 8, Repeated: 4, OneWay: 1, EndToEnd: 1},
		},
		{
			"one number twice", // of which Sync is the Follow_Up?
			[]heard{sync(7, 30), sync(7, 8e6), follow(7, 9e6, 20), follow(8, 9e6, 20), follow(8, 9e6, 21), sync(8, 1e7)},
			nil,
			wire.PTPCounts{Messages: 6, Repeated: 2, Ambiguous: 2},
		},
		{
			"one request twice", // when did the one leave that was answered?
			[]heard{sync(7, 30), follow(7, 31, 20), req(9, 40), req(9, 8e6), resp(9, 9e6, 50), preq(5, 1e7), preq(5, 2e7), presp(5, 3e7, 0)},
			[]string{"one-way 7: 1 - - 20 30 −0 −0"},
			wire.PTPCounts{Messages: 8, OneWay: 1, Repeated: 2, Ambiguous: 2},
		},
		{
			"halves",
			[]heard{sync(7, 30), follow(8, 31, 20), req(9, 40), resp(10, 60, 50), say(wire.Sync, master(1), 11, 70, 60), follow(11, 80, 60)},
			[]string{"one-way 11: 1 - - 60 70 −0 −0"},
			wire.PTPCounts{Messages: 6, OneWay: 1, SyncWithoutFollowUp: 1, FollowUpWithoutSync: 2, DelayReqWithoutResp: 1, DelayRespWithoutReq: 1},
		},
		{
			"stamps that are none",
			[]heard{
				sync(7, 30), follow(7, 31, 0), say(wire.Sync, master(1), 8, 40, 0),
				sync(9, 50), follow(9, 51, 40), req(9, 60), resp(9, 61, 70).with(func(h *heard) { h.Timestamp.Nanos = 1e9 }),
			},
			[]string{"one-way 9: 1 - - 40 50 −0 −0"},
			wire.PTPCounts{Messages: 7, OneWay: 1, Unset: 3},
		},
		{
			"a correction too big", // stays so in the sum
			[]heard{sync(7, 30).with(func(h *heard) { h.Correction = 1<<63 - 1 }), follow(7, 31, 20).with(corrected(-5)), sync(8, 30).with(corrected(1 << 46)), follow(8, 31, 20).with(corrected(1 << 46))},
			[]string{"one-way 7: 1 - - 20 30 −0 −too big", "one-way 8: 1 - - 20 30 −0 −too big"},
			wire.PTPCounts{Messages: 4, OneWay: 2},
		},
		{
			"peer to peer, two steps",
			[]heard{preq(5, 10), presp(5, 41, 20).with(twoStep, corrected(2)), pfollow(5, 42, 30).with(corrected(3))},
			[]string{"peer-to-peer 5: 1 10 20 30 41 −3 −2"},
			wire.PTPCounts{Messages: 3, PeerToPeer: 1},
		},
		{
			"peer to peer, backwards",
			[]heard{pfollow(5, 42, 30), presp(5, 41, 20).with(twoStep), preq(5, 10)},
			[]string{"peer-to-peer 5: 1 10 20 30 41 −0 −0"},
			wire.PTPCounts{Messages: 3, PeerToPeer: 1},
		},
		{
			"peer to peer, one step", // the correction holds T3−T2
			[]heard{preq(5, 10), presp(5, 41, 0).with(corrected(10))},
			[]string{"peer-to-peer 5: 1 10 - - 41 −0 −10"},
			wire.PTPCounts{Messages: 2, PeerToPeer: 1},
		},
		{
			"a stranger on the link",
			[]heard{preq(5, 10), presp(5, 41, 20).with(twoStep), presp(5, 42, 21).with(twoStep, fromMaster(2)), pfollow(5, 43, 31).with(fromMaster(2)), pfollow(5, 44, 30)},
			[]string{"peer-to-peer 5: 1 10 20 30 41 −0 −0"},
			wire.PTPCounts{Messages: 5, PeerToPeer: 1, Strangers: 2},
		},
		{
			"halves of peers",
			[]heard{preq(5, 10), presp(6, 11, 5), preq(7, 12), presp(7, 13, 9).with(twoStep), pfollow(8, 14, 9), preq(9, 15), pfollow(9, 16, 9)},
			nil,
			wire.PTPCounts{Messages: 7, PdelayReqWithoutResp: 1, PdelayRespWithoutReq: 2, PdelayRespWithoutOther: 2},
		},
		{
			"SPTP", // Sync: arrival, Announce: departure and the request's correction
			[]heard{
				req(5, 10).with(unicast(masterIP), simple), say(wire.Sync, master(1), 5, 40, 20).with(twoStep, unicast(slaveIP), corrected(2)),
				say(wire.Announce, master(1), 5, 41, 30).with(unicast(slaveIP), corrected(3), announced), req(6, 90).with(unicast(masterIP), simple),
			},
			[]string{"simple 5: 1 10 20 30 40 −3 −2 37s"},
			wire.PTPCounts{Messages: 4, Simple: 1, SimpleReqWithoutResp: 1},
		},
		{
			"announced",
			[]heard{sync(7, 30), say(wire.Announce, master(1), 1, 30, 0).with(announced), follow(7, 31, 20), say(wire.Announce, master(2), 1, 30, 0), say(wire.Signaling, master(1), 1, 2, 0)},
			[]string{"one-way 7: 1 - - 20 30 −0 −0 37s"},
			wire.PTPCounts{Messages: 5, OneWay: 1, Other: 1},
		},
		{
			"two interfaces, and no time",
			[]heard{sync(7, 30), follow(7, 31, 20).with(func(h *heard) { h.Interface = 1 }), sync(8, 30).with(func(h *heard) { h.Stamped = false })},
			nil,
			wire.PTPCounts{Messages: 3, Unstamped: 1, SyncWithoutFollowUp: 1, FollowUpWithoutSync: 1},
		},
		{
			"a Sync long before the delay",
			[]heard{sync(7, 30), follow(7, 31, 20), req(9, 60e9), resp(9, 60e9+20, 60e9+10)},
			[]string{"one-way 7: 1 - - 20 30 −0 −0"},
			wire.PTPCounts{Messages: 4, OneWay: 1, DelayWithoutSync: 1},
		},
	} {
		got, counts := pairPTP(c.messages...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.counts, counts); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// PTP in Ethernet tells stations apart by their hardware addresses.
func TestPTPPairsInEthernet(t *testing.T) {
	inEthernet := func(src, dst byte) func(*heard) {
		return func(h *heard) {
			h.Packet = wire.Packet{UnixNanos: h.UnixNanos, Stamped: true, Transport: wire.OverEthernet, SrcMAC: wire.MAC{5: src}, DstMAC: wire.MAC{5: dst}}
			if dst == 0xff {
				h.DstMAC[0] = 1
			}
		}
	}
	got, _ := pairPTP(
		say(wire.Sync, master(1), 7, 30, 20).with(inEthernet(1, 0xff)),
		say(wire.DelayReq, slave(1), 9, 40, 0).with(inEthernet(2, 1)),
		say(wire.DelayResp, master(1), 9, 60, 50).with(inEthernet(1, 2), to1(slave(1))),
		say(wire.DelayReq, slave(1), 10, 70, 0).with(inEthernet(2, 3)),
		say(wire.DelayResp, master(1), 10, 90, 80).with(inEthernet(1, 2), to1(slave(1))),
	)
	want := []string{"one-way 7: 1 - - 20 30 −0 −0", "end-to-end 9: 1 40 50 20 30 −0 −0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Sequence numbers that begin anew, at 128 a second with one in three Follow_Ups and
// one in five Syncs lost, give no pair that is not one.
func TestPTPPairsOverAWrap(t *testing.T) {
	const n, period = 200_000, 7_812_500
	pairs := wire.PTPPairs{Emit: func(x *wire.PTPExchange) {
		if x.T4.UnixNanos-x.T3.UnixNanos != 10 {
			t.Fatalf("%d: %v", x.Sequence, *x)
		}
	}}
	whole := 0
	for i := range int64(n) {
		if s := say(wire.Sync, master(1), uint16(i), i*period+30, 0).with(twoStep); i%5 != 0 {
			pairs.Add(&s.Packet, &s.PTP)
		}
		if f := say(wire.FollowUp, master(1), uint16(i), i*period+31, i*period+20); i%3 != 0 {
			pairs.Add(&f.Packet, &f.PTP)
		}
		if i%5 != 0 && i%3 != 0 {
			whole++
		}
	}
	pairs.Close()
	c := pairs.Counts()
	if c.OneWay != whole || c.SyncWithoutFollowUp != n*4/5-whole || c.FollowUpWithoutSync != n-(n+2)/3-whole {
		t.Errorf("%+v, want %d pairs", c, whole)
	}
}

// ptpWorld is masters and slaves on a network that loses, copies and misorders, and
// knows what was true.
type ptpWorld struct {
	now      int64
	messages []heard
	numbers  map[string]int
	truth    map[int64]string // by a time at the capture: which message it was
	copied   bool
}

func (w *ptpWorld) tick(ns int64) int64 {
	w.now += 1 + ns
	return w.now
}

func (w *ptpWorld) number(of string) uint16 {
	if w.numbers[of] == 0 {
		w.numbers[of] = 65530
	}
	w.numbers[of]++
	return uint16(w.numbers[of])
}

// pass lets a message by the capture: not at all, once, or with copies.
func (w *ptpWorld) pass(h heard, name string, how byte) {
	copies := []int{1, 1, 1, 1, 0, 2, 1, 1}[how&7]
	w.copied = w.copied || copies > 1
	for range copies {
		h.UnixNanos = epoch + w.tick(int64(how>>3)*100_000)
		w.messages = append(w.messages, h)
		w.truth[h.UnixNanos] = name
	}
}

// step lets something happen. The stamps that a server tells are odd times, which
// nothing else has.
func (w *ptpWorld) step(what, a, b, c byte) {
	m, s := master(uint16(1+what>>3&1)), slave(uint16(1+what>>4&1))
	domain := inDomain(what >> 5 & 1)
	told := func() int64 { return w.tick(10) }
	say := func(kind wire.PTPType, from wire.PortID, n uint16, told int64) heard {
		h := say(kind, from, n, 0, told).with(domain)
		h.Correction = wire.Correction(told) << 16
		return h
	}
	switch what & 7 {
	default:
		n := w.number(fmt.Sprint("sync", m, what>>5&1))
		t3 := told()
		name := fmt.Sprint("t3 ", t3)
		if what&6 == 0 {
			w.pass(say(wire.Sync, m, n, t3), name, a)
			return
		}
		w.pass(say(wire.Sync, m, n, 0).with(twoStep), name, a)
		w.pass(say(wire.FollowUp, m, n, t3), "", b)
	case 4, 5:
		n := w.number(fmt.Sprint("delay", s, what>>5&1))
		t2 := told()
		w.pass(say(wire.DelayReq, s, n, 0), fmt.Sprint("t2 ", t2), a)
		w.pass(say(wire.DelayResp, m, n, t2).with(to1(s)), "", b)
	case 6:
		n := w.number(fmt.Sprint("pdelay", s, what>>5&1))
		t2, t3 := told(), told()
		w.pass(say(wire.PdelayReq, s, n, 0), fmt.Sprint("t2 ", t2), a)
		w.pass(say(wire.PdelayResp, m, n, t2).with(twoStep, to1(s)), fmt.Sprint("t3 ", t3), b)
		w.pass(say(wire.PdelayRespFollowUp, m, n, t3).with(to1(s)), "", c)
	case 7:
		w.tick(int64(a) * 1e8)
	}
}

// FuzzPTPPairs holds the pairing to this: whatever is lost, copied or out of order, T1
// and T2 are of one message, and so are T3 and T4, with that message's corrections;
// and what is not paired is counted.
func FuzzPTPPairs(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x04\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00"), uint8(0))
	f.Add([]byte("\x0a\x05\x00\x00\x34\x00\x06\x00\x06\x04\x00\x00\x07\xff\x00\x00\x02\x00\x04\x00"), uint8(2))
	f.Add([]byte("\x02\x04\x00\x00\x02\x00\x04\x00\x14\x00\x00\x00\x0c\xf5\x00\x00\x26\xf5\x05\x05"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, mixed uint8) {
		w := ptpWorld{numbers: map[string]int{}, truth: map[int64]string{}}
		for ; len(b) >= 4; b = b[4:] {
			w.step(b[0], b[1], b[2], b[3])
		}
		for i := int(mixed); mixed > 0 && i+1 < len(w.messages); i += int(mixed) {
			w.messages[i], w.messages[i+1] = w.messages[i+1], w.messages[i]
		}
		pairs := wire.PTPPairs{Emit: func(x *wire.PTPExchange) { w.check(t, x) }}
		syncs := 0
		for _, h := range w.messages {
			if pairs.Add(&h.Packet, &h.PTP); h.Type == wire.Sync {
				syncs++
			}
		}
		pairs.Close()
		if c := pairs.Counts(); c.Messages != len(w.messages) || !w.copied && syncs != c.OneWay+c.SyncWithoutFollowUp {
			t.Fatalf("%d messages, %d Syncs: %+v", len(w.messages), syncs, c)
		}
	})
}

func (w *ptpWorld) check(t *testing.T, x *wire.PTPExchange) {
	t.Helper()
	same := func(told, seen wire.Stamp, name string) bool {
		return told.Set && seen.Set && w.truth[seen.UnixNanos] == fmt.Sprint(name, " ", told.UnixNanos-epoch)
	}
	ok := same(x.T3, x.T4, "t3")
	if x.Kind == wire.OneWay {
		ok = ok && !x.T1.Set && !x.T2.Set
	} else {
		ok = ok && same(x.T2, x.T1, "t2")
	}
	out, back := x.T2.UnixNanos-epoch, x.T3.UnixNanos-epoch
	if x.Kind == wire.PeerToPeer { // the Follow_Up's is on the way out: see joinPeer
		out, back = back, out
	}
	if d, _ := x.CorrectionBack.Duration(); int64(d) != back {
		ok = false
	}
	if d, _ := x.CorrectionOut.Duration(); x.Kind != wire.OneWay && int64(d) != out {
		ok = false
	}
	if !ok {
		t.Fatalf("%+v: T1 is of %q, T4 of %q", *x, w.truth[x.T1.UnixNanos], w.truth[x.T4.UnixNanos])
	}
}

func BenchmarkPTPPairs(b *testing.B) {
	n := 0
	pairs := wire.PTPPairs{Emit: func(*wire.PTPExchange) { n++ }}
	messages := []heard{
		say(wire.Sync, master(1), 0, 30, 0).with(twoStep), say(wire.FollowUp, master(1), 0, 31, 20),
		say(wire.DelayReq, slave(1), 0, 40, 0), say(wire.DelayResp, master(1), 0, 60, 50).with(to1(slave(1))),
	}
	round := func(i int64) {
		for k := range messages {
			h := &messages[k]
			h.UnixNanos += 7_812_500
			h.Sequence = uint16(i)
			pairs.Add(&h.Packet, &h.PTP)
		}
	}
	i := int64(0)
	for ; i < 1<<15; i++ {
		round(i)
	}
	n = 0
	b.ReportAllocs()
	for b.Loop() {
		round(i)
		i++
	}
	if n != 2*b.N {
		b.Fatalf("%d exchanges of %d", n, 2*b.N)
	}
}
