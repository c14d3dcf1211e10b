package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

var comparePackets = cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })

// readCapture reads all packets, each with a payload of its own.
func readCapture(r io.Reader) ([]wire.Packet, wire.CaptureCounts, error) {
	c, err := wire.OpenCapture(r)
	if err != nil {
		return nil, wire.CaptureCounts{}, err
	}
	var all []wire.Packet
	var p wire.Packet
	for c.Next(&p) {
		p.Payload = slices.Clone(p.Payload)
		all = append(all, p)
	}
	return all, c.Counts(), c.Err()
}

func be16(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }

func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		case int:
			b = append(b, byte(p))
		case netip.Addr:
			b = append(b, p.AsSlice()...)
		default:
			panic("join: what is that?")
		}
	}
	return b
}

var (
	client4, server4 = netip.MustParseAddrPort("192.0.2.7:40000"), netip.MustParseAddrPort("198.51.100.1:123")
	client6, server6 = netip.MustParseAddrPort("[2001:db8::7]:40000"), netip.MustParseAddrPort("[2001:db8::1]:123")
)

func udp(src, dst netip.AddrPort, payload []byte) []byte {
	return join(be16(int(src.Port())), be16(int(dst.Port())), be16(8+len(payload)), be16(0), payload)
}

func ipv4(src, dst netip.AddrPort, payload []byte) []byte {
	d := udp(src, dst, payload)
	return join(0x45, 0, be16(20+len(d)), be16(1), be16(0x4000), 64, 17, be16(0), src.Addr(), dst.Addr(), d)
}

func ipv6(src, dst netip.AddrPort, next int, payload []byte) []byte {
	return join(0x60, 0, 0, 0, be16(len(payload)), next, 64, src.Addr(), dst.Addr(), payload)
}

const someMAC, otherMAC = "\x02\x00\x00\x00\x00\x01", "\x01\x1b\x19\x00\x00\x00"

func ethernet(kind int, payload []byte) []byte { return join(otherMAC, someMAC, be16(kind), payload) }

type record struct {
	seconds, part uint32
	frame         []byte
	long          int // 0: as long as the frame
}

func pcap(order binary.AppendByteOrder, magic uint32, link uint32, records ...record) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(order.AppendUint32(b, 65535), link)
	for _, r := range records {
		b = order.AppendUint32(order.AppendUint32(b, r.seconds), r.part)
		b = order.AppendUint32(b, uint32(len(r.frame)))
		b = order.AppendUint32(b, uint32(max(r.long, len(r.frame))))
		b = append(b, r.frame...)
	}
	return b
}

const micros, nanos = 0xa1b2c3d4, 0xa1b23c4d

func ethernetPcap(records ...record) []byte { return pcap(binary.LittleEndian, nanos, 1, records...) }

func TestPcapTimes(t *testing.T) {
	frame := ethernet(0x0800, ipv4(client4, server4, []byte("x")))
	for name, c := range map[string]struct {
		order binary.AppendByteOrder
		magic uint32
		r     record
		want  int64
		ok    bool
	}{
		"µs little":            {binary.LittleEndian, micros, record{seconds: 1, part: 999_999}, 1_999_999_000, true},
		"µs big":               {binary.BigEndian, micros, record{seconds: 1, part: 999_999}, 1_999_999_000, true},
		"ns little":            {binary.LittleEndian, nanos, record{seconds: 1, part: 999_999_999}, 1_999_999_999, true},
		"ns big":               {binary.BigEndian, nanos, record{seconds: 1, part: 999_999_999}, 1_999_999_999, true},
		"past 2038":            {binary.LittleEndian, micros, record{seconds: 1 << 31}, 1 << 31 * int64(time.Second), true},
		"the last second":      {binary.LittleEndian, micros, record{seconds: math.MaxUint32}, math.MaxUint32 * int64(time.Second), true},
		"a second of µs":       {binary.LittleEndian, micros, record{seconds: 1, part: 1_000_000}, 0, false},
		"a 32-bit product":     {binary.LittleEndian, micros, record{seconds: 1, part: 1 << 31}, 0, false},
		"a second of ns":       {binary.LittleEndian, nanos, record{seconds: 1, part: 1_000_000_000}, 0, false},
		"all bits of fraction": {binary.LittleEndian, nanos, record{seconds: 1, part: math.MaxUint32}, 0, false},
	} {
		c.r.frame = frame
		got, counts, err := readCapture(bytes.NewReader(pcap(c.order, c.magic, 1, c.r)))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d packets, %v", name, len(got), err)
			continue
		}
		if got[0].UnixNanos != c.want || got[0].Stamped != c.ok || (counts.Unstamped == 0) != c.ok {
			t.Errorf("%s: %d, %v, %d without time; want %d", name, got[0].UnixNanos, got[0].Stamped, counts.Unstamped, c.want)
		}
	}
}

func TestCaptureLinks(t *testing.T) {
	payload := []byte("payload")
	v4, v6 := ipv4(client4, server4, payload), ipv6(client6, server6, 17, udp(client6, server6, payload))
	cooked := func(kind int) []byte { return join(be16(0), be16(1), be16(6), someMAC, be16(0), be16(kind)) }
	cooked2 := func(kind int) []byte {
		return join(be16(kind), be16(0), be16(0), be16(7), be16(1), 4, 6, someMAC, be16(0))
	}
	mac := wire.MAC([]byte(someMAC))
	for _, c := range []struct {
		name  string
		link  uint32
		frame []byte
		want  wire.Packet
	}{
		{"Ethernet", 1, ethernet(0x0800, v4), wire.Packet{SrcMAC: mac, DstMAC: wire.MAC([]byte(otherMAC))}},
		{"Ethernet padded", 1, append(ethernet(0x0800, v4), 0, 0, 0, 0), wire.Packet{SrcMAC: mac, DstMAC: wire.MAC([]byte(otherMAC))}},
		{"VLAN", 1, ethernet(0x8100, join(be16(100), be16(0x0800), v4)), wire.Packet{SrcMAC: mac, DstMAC: wire.MAC([]byte(otherMAC))}},
		{"QinQ", 1, ethernet(0x88a8, join(be16(5), be16(0x8100), be16(100), be16(0x86dd), v6)), wire.Packet{SrcMAC: mac, DstMAC: wire.MAC([]byte(otherMAC))}},
		{"cooked", 113, join(cooked(0x0800), v4), wire.Packet{SrcMAC: mac}},
		{"cooked VLAN", 113, join(cooked(0x8100), be16(3), be16(0x86dd), v6), wire.Packet{SrcMAC: mac}},
		{"cooked 2", 276, join(cooked2(0x86dd), v6), wire.Packet{SrcMAC: mac, Interface: 7}},
		{"loopback, little", 0, join(2, 0, 0, 0, v4), wire.Packet{}},
		{"loopback, big", 0, join(0, 0, 0, 30, v6), wire.Packet{}},
		{"OpenBSD loopback", 108, join(0, 0, 0, 24, v6), wire.Packet{}},
		{"raw", 101, v6, wire.Packet{}},
		{"raw of old", 12, v4, wire.Packet{}},
		{"IPv4", 228, v4, wire.Packet{}},
		{"IPv6", 229, v6, wire.Packet{}},
		{"FCS length in the link type", 1 | 0x14000000, append(ethernet(0x0800, v4), 1, 2, 3, 4), wire.Packet{SrcMAC: mac, DstMAC: wire.MAC([]byte(otherMAC))}},
	} {
		got, counts, err := readCapture(bytes.NewReader(pcap(binary.BigEndian, nanos, c.link, record{seconds: 3, frame: c.frame})))
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %d packets, %+v, %v", c.name, len(got), counts, err)
			continue
		}
		c.want.UnixNanos, c.want.Stamped = 3_000_000_000, true
		c.want.Src, c.want.Dst = client4, server4
		if got[0].Src.Addr().Is6() {
			c.want.Src, c.want.Dst = client6, server6
		}
		c.want.Payload, c.want.OriginalLen = payload, len(payload)
		if diff := cmp.Diff(c.want, got[0], comparePackets); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestCaptureJudgesFrames(t *testing.T) {
	v4 := ipv4(client4, server4, []byte("payload"))
	with := func(b []byte, at int, bytes ...byte) []byte {
		b = slices.Clone(b)
		copy(b[at:], bytes)
		return b
	}
	extended := func(next int, header []byte) []byte {
		return ipv6(client6, server6, next, join(header, udp(client6, server6, []byte("payload"))))
	}
	options := join(0x47, 0, be16(28+15), v4[4:20], "\x01\x01\x01\x01\x01\x01\x01\x01", v4[20:])
	one := func(packets int, counts wire.CaptureCounts) wire.CaptureCounts {
		counts.Frames, counts.Packets = 1, packets
		return counts
	}
	packet, foreign := one(1, wire.CaptureCounts{}), one(0, wire.CaptureCounts{Foreign: 1})
	fragment, malformed := one(0, wire.CaptureCounts{Fragments: 1}), one(0, wire.CaptureCounts{Malformed: 1})
	for _, c := range []struct {
		name  string
		link  uint32
		frame []byte
		want  wire.CaptureCounts
	}{
		{"IPv4 options", 101, options, packet},
		{"first fragment", 101, with(v4, 6, 0x20, 0), fragment},
		{"later fragment", 101, with(v4, 6, 0, 1), fragment},
		{"TCP", 101, with(v4, 9, 6), foreign},
		{"ARP", 1, ethernet(0x0806, v4), foreign},
		{"802.3 with a length", 1, ethernet(38, v4), foreign},
		{"no IP version", 101, with(v4, 0, 0x55), malformed},
		{"header of 16 bytes", 101, with(v4, 0, 0x44), malformed},
		{"IP shorter than its header", 101, with(v4, 2, 0, 19), malformed},
		{"UDP longer than IP", 101, with(v4, 24, 0, 16), malformed},
		{"UDP of 7 bytes", 101, with(v4, 24, 0, 7), malformed},
		{"cut off in the IP header", 101, v4[:19], malformed},
		{"cut off in the UDP header", 101, v4[:27], malformed},
		{"cut off in the payload", 101, v4[:30], packet},
		{"cut off in a tag", 1, ethernet(0x8100, []byte{1, 2, 3}), malformed},
		{"nothing", 1, nil, malformed},
		{"hop by hop, then options", 101, extended(0, join(60, 0, "\x00\x00\x00\x00\x00\x00", 17, 1, make([]byte, 14))), packet},
		{"authentication header", 101, extended(51, join(17, 4, make([]byte, 22))), packet},
		{"atomic fragment", 101, extended(44, join(17, 0, be16(0), "\x00\x00\x00\x01")), packet},
		{"IPv6 fragment", 101, extended(44, join(17, 0, be16(1), "\x00\x00\x00\x01")), fragment},
		{"ICMPv6", 101, extended(58, nil), foreign},
		{"an extension without end", 101, extended(60, join(60, 255, make([]byte, 6))), malformed},
		{"unknown link", 147, v4, one(0, wire.CaptureCounts{UnknownLink: 1})},
		{"AppleTalk on loopback", 0, join(16, 0, 0, 0, v4), foreign},
	} {
		got, counts, err := readCapture(bytes.NewReader(pcap(binary.LittleEndian, nanos, c.link, record{frame: c.frame, long: len(v4)})))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, counts); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, p := range got {
			if p.OriginalLen != len("payload") || !strings.HasPrefix("payload", string(p.Payload)) {
				t.Errorf("%s: %q of %d bytes", c.name, p.Payload, p.OriginalLen)
			}
		}
	}
}

func TestCaptureOfPTPInEthernet(t *testing.T) {
	frame := ethernet(0x88f7, make([]byte, 46))
	got, _, err := readCapture(bytes.NewReader(ethernetPcap(record{frame: frame[:40], long: 60})))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if p := got[0]; p.Transport != wire.OverEthernet || len(p.Payload) != 26 || p.OriginalLen != 46 || p.Src.IsValid() || !p.DstMAC.IsMulticast() {
		t.Errorf("%+v", p)
	}
}

// A capture cut off at any byte gives the packets that are whole, and then tells
// where the one begins that is not.
func TestCutOffCapture(t *testing.T) {
	frame := ethernet(0x0800, ipv4(client4, server4, []byte("payload")))
	for name, c := range map[string]struct {
		whole []byte
		ends  []int // after the header, and after each packet
	}{
		"pcap":   {ethernetPcap(record{seconds: 1, frame: frame}, record{seconds: 2, frame: frame}), []int{24, 24 + 16 + len(frame), 24 + 2*(16+len(frame))}},
		"pcapng": {join(section(littleEndian), description(littleEndian, 1, nil), packetBlock(littleEndian, 0, 1, frame), packetBlock(littleEndian, 0, 2, frame)), []int{28, 48, 48 + 32 + 52, 48 + 2*(32+52)}},
	} {
		all, _, err := readCapture(bytes.NewReader(c.whole))
		if err != nil || len(all) != 2 || len(c.whole) != c.ends[len(c.ends)-1] {
			t.Fatalf("%s: %d packets in %d bytes, %v", name, len(all), len(c.whole), err)
		}
		for n := range len(c.whole) {
			got, _, err := readCapture(bytes.NewReader(c.whole[:n]))
			begin, clean, packets := 0, false, 0
			for i, end := range c.ends {
				if n >= end {
					begin, packets = end, max(0, i-(len(c.ends)-3))
				}
				clean = clean || n == end
			}
			if diff := cmp.Diff(all[:packets], got, comparePackets); diff != "" && packets+len(got) > 0 {
				t.Fatalf("%s of %d bytes: %s", name, n, diff)
			}
			var where *wire.CaptureError
			switch {
			case clean && err != nil:
				t.Fatalf("%s of %d bytes: %v", name, n, err)
			case !clean && (!errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &where) || where.Offset != int64(begin)):
				t.Fatalf("%s of %d bytes: %v, want byte %d", name, n, err, begin)
			}
		}
	}
}

func TestCaptureErrors(t *testing.T) {
	frame := ethernet(0x0800, ipv4(client4, server4, []byte("x")))
	good := ethernetPcap(record{frame: frame})
	huge := slices.Clone(good)
	binary.LittleEndian.PutUint32(huge[24+8:], 1<<31)
	version := slices.Clone(good)
	version[6] = 2
	ng := join(section(littleEndian), description(littleEndian, 1, nil))
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"empty":                 {nil, "capture: byte 0: unexpected EOF: the capture is cut off after 0 bytes of a file header of 4"},
		"text":                  {[]byte("{}\n{}\n"), `capture: byte 0: magic "7b7d0a7b": neither pcap nor pcapng`},
		"version":               {version, "capture: byte 0: pcap version 2.2: want 2.4"},
		"a record of 2 GiB":     {huge, "capture: byte 24: a record of 2147483648 bytes: the file is damaged here or before"},
		"cut off":               {good[:50], "capture: byte 24: unexpected EOF: the capture is cut off after 26 bytes of a record of 59"},
		"byte order":            {join("\n\r\r\n\x1c\x00\x00\x00", "\x00\x00\x00\x00"), `capture: byte 0: pcapng: byte order "00000000": want 1a2b3c4d`},
		"a block of 8 bytes":    {join(ng, block(littleEndian, 6, nil)[:4], "\x08\x00\x00\x00", "1234"), "capture: byte 48: a block of 8 bytes: the file is damaged here or before"},
		"a block of 13 bytes":   {join(ng, "\x06\x00\x00\x00\x0d\x00\x00\x00", "12345"), "capture: byte 48: a block of 13 bytes: the file is damaged here or before"},
		"lengths that differ":   {join(ng, "\x06\x00\x00\x00\x0c\x00\x00\x00\x10\x00\x00\x00"), "capture: byte 48: a block of 12 bytes ends as one of 16: the file is damaged here"},
		"no such interface":     {join(ng, packetBlock(littleEndian, 1, 0, frame)), "capture: byte 48: a packet of interface 1: the section has described 1"},
		"no interface at all":   {join(section(littleEndian), block(littleEndian, 3, make([]byte, 8))), "capture: byte 28: a packet of interface 0: the section has described none"},
		"a frame of 99 bytes":   {join(ng, block(littleEndian, 6, join(make([]byte, 12), "\x63\x00\x00\x00", make([]byte, 8)))), "capture: byte 48: a block is too short for its type: the file is damaged here"},
		"a frame of 8 in 4":     {join(ng, block(littleEndian, 6, join(make([]byte, 12), "\x08\x00\x00\x00", make([]byte, 8)))), "capture: byte 48: a block is too short for its type: the file is damaged here"},
		"an option of 99 bytes": {join(section(littleEndian), description(littleEndian, 1, []byte{2, 0, 99, 0})), "capture: byte 28: a block is too short for its type: the file is damaged here"},
		"version of a section":  {block(littleEndian, 0x0a0d0d0a, join("\x4d\x3c\x2b\x1a\x02\x00\x00\x00", make([]byte, 8))), "capture: byte 0: pcapng version 2.0: want 1"},
	} {
		if _, _, err := readCapture(bytes.NewReader(c.b)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
	broken := errors.New("the disk is on fire")
	if _, _, err := readCapture(io.MultiReader(bytes.NewReader(good), iotest.ErrReader(broken))); !errors.Is(err, broken) || !strings.Contains(err.Error(), "byte 83") {
		t.Errorf("a reader that fails: %v", err)
	}
}

// A record longer than any frame is passed over, not kept.
func TestOversizedRecord(t *testing.T) {
	frame := ethernet(0x0800, ipv4(client4, server4, []byte("x")))
	b := ethernetPcap(record{frame: make([]byte, 1<<20)}, record{seconds: 5, frame: frame})
	got, counts, err := readCapture(bytes.NewReader(b))
	if err != nil || len(got) != 1 || got[0].UnixNanos != 5e9 || counts.Oversized != 1 || counts.Frames != 2 {
		t.Errorf("%d packets, %+v, %v", len(got), counts, err)
	}
	if _, _, err := readCapture(bytes.NewReader(b[:1<<19])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off within it: %v", err)
	}
}

func BenchmarkCapture(b *testing.B) {
	frame := ethernet(0x0800, ipv4(client4, server4, request().AppendTo(nil)))
	records := make([]record, 10_000)
	for i := range records {
		records[i] = record{seconds: uint32(i), frame: frame}
	}
	file := bytes.NewReader(ethernetPcap(records...))
	b.ReportAllocs()
	var c *wire.Capture
	var p wire.Packet
	for b.Loop() {
		for c == nil || !c.Next(&p) {
			file.Seek(0, io.SeekStart)
			c, _ = wire.OpenCapture(file)
		}
		if n, err := wire.DecodeNTP(p.Payload); err != nil || n.Version != 4 {
			b.Fatal(err)
		}
	}
}
