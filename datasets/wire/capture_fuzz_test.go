package wire_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

// FuzzCapture holds the reader to this: how the bytes arrive makes no difference; the
// beginning of a capture gives the beginning of its packets; every frame is counted.
func FuzzCapture(f *testing.F) {
	frame := ethernet(0x8100, join(be16(1), be16(0x0800), ipv4(client4, server4, []byte("payload"))))
	f.Add(ethernetPcap(record{seconds: 1, frame: frame}, record{part: 1 << 31, frame: ethernet(0x88f7, frame)}))
	f.Add(pcap(bigEndian, micros, 113, record{frame: frame}))
	f.Add(pcap(littleEndian, micros, 276, record{frame: frame}))
	f.Add(join(section(bigEndian), description(bigEndian, 1, option(bigEndian, 9, []byte{0x8a})), packetBlock(bigEndian, 0, 7, frame), section(littleEndian), description(littleEndian, 1, nil), packetBlock(littleEndian, 0, 9, frame)))
	f.Add(pcap(littleEndian, nanos, 101, record{frame: ipv6(client6, server6, 0, join(17, 0, make([]byte, 6), udp(client6, server6, []byte("x"))))}))
	q, r := ask(10, 1), tell(40, 1, 20, 30)
	f.Add(ethernetPcap(onEthernet(q), onEthernet(r)))
	f.Add(ethernetPcap(record{frame: ethernet(0x88f7, encodePTP(f, somePTP(wire.Sync)))}))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, counts, err := readCapture(bytes.NewReader(b))
		slowly, again, errAgain := readCapture(iotest.OneByteReader(bytes.NewReader(b)))
		if diff := cmp.Diff(all, slowly, comparePackets); diff != "" || counts != again || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("byte by byte: %s\n%+v, %+v\n%v, %v", diff, counts, again, err, errAgain)
		}
		checkCounts(t, all, counts)
		pairAll(t, all)
		for _, n := range []int{len(b) / 3, len(b) / 2, len(b) - 1} {
			if n < 0 {
				continue
			}
			got, _, _ := readCapture(bytes.NewReader(b[:n]))
			if len(got) > len(all) {
				t.Fatalf("%d bytes of %d give %d packets of %d", n, len(b), len(got), len(all))
			}
			if diff := cmp.Diff(all[:len(got)], got, comparePackets); diff != "" && len(got) > 0 {
				t.Fatal(diff)
			}
		}
	})
}

// pairAll takes each packet for NTP and for PTP: who answers is who was asked, and what
// the capture stamped are times of it.
func pairAll(t *testing.T, all []wire.Packet) {
	t.Helper()
	captured := map[int64]bool{}
	ntp := wire.NTPPairs{Emit: func(x *wire.NTPExchange) {
		if x.T1.Set && !captured[x.T1.UnixNanos] || x.T4.Set && !captured[x.T4.UnixNanos] || !x.Client.IsValid() && x.Server.IsValid() {
			t.Fatalf("%+v", *x)
		}
	}}
	ptp := wire.PTPPairs{Emit: func(x *wire.PTPExchange) {
		if x.T1.Set && !captured[x.T1.UnixNanos] || !captured[x.T4.UnixNanos] {
			t.Fatalf("%+v", *x)
		}
	}}
	for i := range all {
		p := &all[i]
		captured[p.UnixNanos] = true
		if n, err := wire.DecodeNTP(p.Payload); err == nil {
			ntp.Add(p, &n)
		}
		if m, err := wire.DecodePTP(p.Payload); err == nil {
			ptp.Add(p, &m)
		}
	}
	ntp.Close()
	ptp.Close()
}

func checkCounts(t *testing.T, all []wire.Packet, n wire.CaptureCounts) {
	t.Helper()
	if n.Packets+n.Foreign+n.Fragments+n.Malformed+n.UnknownLink+n.Oversized != n.Frames || n.Packets != len(all) || n.Unstamped > n.Frames {
		t.Fatalf("%d packets, %+v", len(all), n)
	}
	for _, p := range all {
		if len(p.Payload) > p.OriginalLen || (p.Transport == wire.OverUDP) != p.Src.IsValid() || (!p.Stamped && p.UnixNanos != 0) {
			t.Fatalf("%+v", p)
		}
	}
}

// FuzzCaptureTimes holds both formats to this: a packet written is the packet read.
func FuzzCaptureTimes(f *testing.F) {
	f.Add(uint32(1), uint32(999_999_999), uint64(1)<<63, uint8(0x80|40), []byte("payload"))
	f.Fuzz(func(t *testing.T, seconds, part uint32, units uint64, resolution uint8, payload []byte) {
		payload = payload[:min(len(payload), 1400)]
		frame := ipv4(client4, server4, payload)
		got, _, err := readCapture(bytes.NewReader(pcap(littleEndian, nanos, 101, record{seconds: seconds, part: part, frame: frame})))
		if err != nil || len(got) != 1 || !slices.Equal(got[0].Payload, payload) {
			t.Fatal(got, err)
		}
		if want := int64(seconds)*1e9 + int64(part); got[0].Stamped != (part < 1e9) || got[0].Stamped && got[0].UnixNanos != want {
			t.Fatalf("%+v, want %d", got[0], want)
		}
		// Two neighbouring units are in order, and no farther apart than a unit and the
		// nanosecond that is rounded.
		units = max(units, 1) - 1
		file := join(section(bigEndian), description(bigEndian, 101, option(bigEndian, 9, []byte{resolution})), packetBlock(bigEndian, 0, units, frame), packetBlock(bigEndian, 0, units+1, frame))
		got, _, err = readCapture(bytes.NewReader(file))
		if err != nil || len(got) != 2 || got[1].Stamped && !got[0].Stamped {
			t.Fatal(got, err)
		}
		unit := 1e9
		for range resolution & 0x7f {
			if resolution&0x80 != 0 {
				unit /= 2
			} else {
				unit /= 10
			}
		}
		if step := got[1].UnixNanos - got[0].UnixNanos; got[1].Stamped && (step < 0 || float64(step) > unit+1 || float64(step) < unit-1) {
			t.Fatalf("units of %g ns: %d apart", unit, step)
		}
	})
}
