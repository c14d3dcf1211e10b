package wire_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var littleEndian, bigEndian binary.AppendByteOrder = binary.LittleEndian, binary.BigEndian

func block(order binary.AppendByteOrder, kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	size := uint32(12 + len(body))
	b := order.AppendUint32(order.AppendUint32(nil, kind), size)
	return order.AppendUint32(append(b, body...), size)
}

func section(order binary.AppendByteOrder) []byte {
	b := order.AppendUint32(nil, 0x1a2b3c4d)
	b = order.AppendUint16(order.AppendUint16(b, 1), 0)
	return block(order, 0x0a0d0d0a, order.AppendUint64(b, math.MaxUint64))
}

func description(order binary.AppendByteOrder, link uint16, options []byte) []byte {
	b := order.AppendUint16(order.AppendUint16(nil, link), 0)
	return block(order, 1, append(order.AppendUint32(b, 65535), options...))
}

func option(order binary.AppendByteOrder, code uint16, value []byte) []byte {
	b := append(order.AppendUint16(order.AppendUint16(nil, code), uint16(len(value))), value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func packetBlock(order binary.AppendByteOrder, id uint32, units uint64, frame []byte) []byte {
	b := order.AppendUint32(order.AppendUint32(order.AppendUint32(nil, id), uint32(units>>32)), uint32(units))
	b = order.AppendUint32(order.AppendUint32(b, uint32(len(frame))), uint32(len(frame)))
	return block(order, 6, append(b, frame...))
}

// The values are those of draft-ietf-opsawg-pcapng §4.2: if_tsresol in powers of ten,
// or of two with the highest bit, and if_tsoffset in seconds.
func TestPcapngTimes(t *testing.T) {
	const s = uint64(time.Second)
	frame := ipv4(client4, server4, []byte("x"))
	for _, c := range []struct {
		name       string
		resolution int // -1: no option
		offset     int64
		units      uint64
		want       int64
		ok         bool
	}{
		{"µs unless told", -1, 0, 1_999_999, 1_999_999_000, true},
		{"2106 and after", -1, 0, 4_294_967_296_000_000, 4_294_967_296_000_000_000, true},
		{"seconds", 0, 0, 100, 100_000_000_000, true},
		{"ms", 3, 0, 1_999, 1_999_000_000, true},
		{"ns", 9, 0, 1_999_999_999, 1_999_999_999, true},
		{"ps, rounded down", 12, 0, 1_999_999_999_999, 1_999_999_999, true},
		{"10^-19", 19, 0, 1e19, 1_000_000_000, true},
		{"10^-28", 28, 0, 18e18, 1, true},
		{"10^-29", 29, 0, math.MaxUint64, 0, true},
		{"10^-127", 127, 0, math.MaxUint64, 0, true},
		{"2^0", 0x80, 0, 100, 100_000_000_000, true},
		{"2^-10", 0x80 | 10, 0, 100<<10 | 512, 100_500_000_000, true},
		{"2^-20", 0x80 | 20, 0, 100<<20 | 1<<20 - 1, 100_999_999_046, true}, // 10^9·(1−2^-20) = 999999046.3
		{"2^-32", 0x80 | 32, 0, 100<<32 | math.MaxUint32, 100_999_999_999, true},
		{"2^-40", 0x80 | 40, 0, 100<<40 | 1<<39, 100_500_000_000, true},
		{"2^-64", 0x80 | 64, 0, 1 << 63, 500_000_000, true},
		{"2^-127", 0x80 | 127, 0, math.MaxUint64, 0, true},
		{"an offset", 9, 1_700_000_000, 5, 1_700_000_000_000_000_005, true},
		{"a negative one", 9, -1, 100 * s, 99_000_000_000, true},
		{"before 1970", 9, -100, 1, -99_999_999_999, true},
		{"too late", -1, 0, math.MaxUint64, 0, false},
		{"too late for 128 bits", 0, 0, math.MaxUint64, 0, false},
		{"too late by its offset", 9, math.MaxInt64, 1, 0, false},
		{"too early by its offset", 9, math.MinInt64, 1, 0, false},
	} {
		for _, order := range []binary.AppendByteOrder{littleEndian, bigEndian} {
			var options []byte
			if c.resolution >= 0 {
				options = option(order, 9, []byte{byte(c.resolution)})
			}
			if c.offset != 0 {
				options = append(options, option(order, 14, order.AppendUint64(nil, uint64(c.offset)))...)
			}
			got, _, err := readCapture(bytes.NewReader(join(section(order), description(order, 101, options), packetBlock(order, 0, c.units, frame))))
			if err != nil || len(got) != 1 {
				t.Errorf("%s: %d packets, %v", c.name, len(got), err)
				continue
			}
			if got[0].UnixNanos != c.want || got[0].Stamped != c.ok {
				t.Errorf("%s, %v: %d, %v; want %d", c.name, order, got[0].UnixNanos, got[0].Stamped, c.want)
			}
		}
	}
}

// Sections begin anew: byte order, interfaces, resolution. Interfaces are counted on.
func TestPcapngSections(t *testing.T) {
	frame, old := ipv4(client4, server4, []byte("x")), ethernet(0x0800, ipv4(client4, server4, []byte("x")))
	simple := block(littleEndian, 3, join(littleEndian.AppendUint32(nil, uint32(len(frame))), frame))
	oldPacket := block(bigEndian, 2, join(be16(1), be16(0), bigEndian.AppendUint32(nil, 0), bigEndian.AppendUint32(nil, 7),
		bigEndian.AppendUint32(nil, uint32(len(old))), bigEndian.AppendUint32(nil, uint32(len(old))), old))
	file := join(
		section(littleEndian), description(littleEndian, 101, option(littleEndian, 2, []byte("lo"))), block(littleEndian, 4, []byte("names")),
		packetBlock(littleEndian, 0, 1, frame), block(littleEndian, 10, make([]byte, 1<<19)), simple,
		section(bigEndian), description(bigEndian, 101, nil), description(bigEndian, 1, join(option(bigEndian, 2, []byte("eth0")), option(bigEndian, 9, []byte{9}), option(bigEndian, 0, nil))),
		oldPacket, packetBlock(bigEndian, 0, 2, frame))
	got, counts, err := readCapture(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		UnixNanos int64
		Stamped   bool
		Interface int
		Name      string
	}
	var all []seen
	for _, p := range got {
		all = append(all, seen{p.UnixNanos, p.Stamped, p.Interface, p.InterfaceName})
	}
	want := []seen{{1000, true, 0, "lo"}, {0, false, 0, "lo"}, {7, true, 2, "eth0"}, {2000, true, 1, ""}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
	if counts.Frames != 4 || counts.Packets != 4 || counts.Unstamped != 1 || counts.Oversized != 0 {
		t.Errorf("%+v", counts)
	}
}
