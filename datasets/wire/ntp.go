package wire

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/facebook/time/ntp/protocol"
)

// NTPHeaderSize is the length of a packet without extension fields and MAC.
const NTPHeaderSize = protocol.PacketSizeBytes

// The modes of an NTP packet, RFC 5905 figure 10. Control and private packets (ntpq,
// ntpdc) are of another layout.
const (
	ModeActive    = 1
	ModePassive   = 2
	ModeClient    = 3
	ModeServer    = 4
	ModeBroadcast = 5
	modeControl   = 6
)

// NTP is an NTP packet of version 1 to 4.
type NTP struct {
	Leap           int // 0 none, 1 insert, 2 delete, 3 not synchronised
	Version        int
	Mode           int
	Stratum        int           // 0 is a kiss-o'-death in a reply, 16 not synchronised
	Poll           int           // log2 seconds
	Precision      int           // log2 seconds
	RootDelay      time.Duration // in steps of 15.26 µs, as RootDispersion
	RootDispersion time.Duration
	ReferenceID    [4]byte
	Reference      NTPTime // when the clock was last set
	Origin         NTPTime // of a reply: the request's Transmit, or if interleaved its Receive
	Receive        NTPTime
	Transmit       NTPTime

	// Fields are the extension fields as they are (see [NTP.Extensions]), MAC the
	// message authentication code with its key id, Rest what follows the header and
	// is neither. They are parts of the packet that was decoded, not copies.
	Fields, MAC, Rest []byte
}

// DecodeNTP reads a packet. An error means that the time stamps in it are none: it is
// cut off, of a version that is not known, or a control packet. What follows the
// header cannot be an error: see [NTP].Rest.
func DecodeNTP(b []byte) (NTP, error) {
	if len(b) < NTPHeaderSize {
		return NTP{}, fmt.Errorf("ntp: %d bytes are too short for a packet (%d)", len(b), NTPHeaderSize)
	}
	// The library sees the header alone: it copies the fields behind it, and refuses
	// the whole packet for one of them.
	var p protocol.Packet
	if err := p.UnmarshalBinary(b[:NTPHeaderSize]); err != nil {
		return NTP{}, fmt.Errorf("ntp: %w", err)
	}
	n := ntpOf(&p)
	switch {
	case n.Version < 1 || n.Version > 4:
		return n, fmt.Errorf("ntp: version %d: want 1 to 4", n.Version)
	case n.Mode >= modeControl:
		return n, fmt.Errorf("ntp: mode %d is control traffic without time stamps", n.Mode)
	}
	n.Fields, n.MAC, n.Rest = splitTrailer(b[NTPHeaderSize:], n.Version)
	return n, nil
}

func ntpOf(p *protocol.Packet) NTP {
	n := NTP{
		Leap: int(p.Settings >> 6), Version: int(p.Settings >> 3 & 7), Mode: int(p.Settings & 7),
		Stratum: int(p.Stratum), Poll: int(p.Poll), Precision: int(p.Precision),
		RootDelay: shortTime(p.RootDelay), RootDispersion: shortTime(p.RootDispersion),
		Reference: longTime(p.RefTimeSec, p.RefTimeFrac), Origin: longTime(p.OrigTimeSec, p.OrigTimeFrac),
		Receive: longTime(p.RxTimeSec, p.RxTimeFrac), Transmit: longTime(p.TxTimeSec, p.TxTimeFrac),
	}
	binary.BigEndian.PutUint32(n.ReferenceID[:], p.ReferenceID)
	return n
}

// AppendTo appends the packet as it goes on the wire: what was decoded gives the same
// bytes again. A number that its field cannot hold is cut to the field's bits, a root
// delay or dispersion to the field's range.
func (n NTP) AppendTo(dst []byte) []byte {
	p := protocol.Packet{
		Settings: uint8(n.Leap&3<<6 | n.Version&7<<3 | n.Mode&7),
		Stratum:  uint8(n.Stratum), Poll: int8(n.Poll), Precision: int8(n.Precision),
		RootDelay: shortFormat(n.RootDelay), RootDispersion: shortFormat(n.RootDispersion),
		ReferenceID: binary.BigEndian.Uint32(n.ReferenceID[:]),
		RefTimeSec:  uint32(n.Reference >> 32), RefTimeFrac: uint32(n.Reference),
		OrigTimeSec: uint32(n.Origin >> 32), OrigTimeFrac: uint32(n.Origin),
		RxTimeSec: uint32(n.Receive >> 32), RxTimeFrac: uint32(n.Receive),
		TxTimeSec: uint32(n.Transmit >> 32), TxTimeFrac: uint32(n.Transmit),
	}
	header, err := p.Bytes()
	if err != nil {
		panic("wire: a header without extension fields: " + err.Error())
	}
	dst = append(dst, header...)
	dst = append(dst, n.Fields...)
	dst = append(dst, n.MAC...)
	return append(dst, n.Rest...)
}

// Refid returns the reference id as people write it: text up to stratum 1 (the kiss
// code at 0), else four numbers, which are an IPv4 address or the hash of another.
// What is not printable is left out.
func (n NTP) Refid() string {
	id := n.ReferenceID
	if n.Stratum > 1 {
		return fmt.Sprintf("%d.%d.%d.%d", id[0], id[1], id[2], id[3])
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, string(id[:]))
	return strings.TrimSpace(text)
}

// Extensions goes through the extension fields (RFC 7822): type and body, padding
// included.
func (n NTP) Extensions() iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for rest := n.Fields; ; {
			size := fieldSize(rest)
			if size == 0 || !yield(binary.BigEndian.Uint16(rest), rest[4:size]) {
				return
			}
			rest = rest[size:]
		}
	}
}

// splitTrailer divides what follows the header. A MAC has no frame, so its length
// tells it: RFC 7822 §3 makes the last extension field of a packet without MAC 28
// bytes at least. Versions before 4 have no extension fields, and MACs of more
// lengths: 12 bytes (RFC 1305 appendix C) to 72 (Windows domains).
func splitTrailer(b []byte, version int) (fields, mac, rest []byte) {
	if version < 4 && len(b) >= 12 {
		return nil, b, nil
	}
	end := 0
	for version >= 4 && !isMAC(b[end:]) {
		size := fieldSize(b[end:])
		if size == 0 {
			break
		}
		end += size
	}
	if isMAC(b[end:]) {
		return b[:end], b[end:], nil
	}
	return b[:end], nil, b[end:]
}

// isMAC tells whether b is as long as a MAC: a key id with a digest of 128 bits (MD5,
// AES-CMAC of RFC 8573) or 160 (SHA-1, and longer ones that are cut), or the key id
// zero alone, a crypto-NAK.
func isMAC(b []byte) bool {
	const key = 4
	return len(b) == key+16 || len(b) == key+20 || len(b) == key && binary.BigEndian.Uint32(b) == 0
}

// fieldSize returns the length of the extension field that b begins with, or 0 if it
// begins with none that is whole.
func fieldSize(b []byte) int {
	const header = protocol.ExtensionHeaderSize
	if len(b) < header {
		return 0
	}
	size := int(binary.BigEndian.Uint16(b[2:]))
	if size < header || size%protocol.ExtensionAlignment != 0 || size > len(b) {
		return 0
	}
	return size
}

func longTime(seconds, fraction uint32) NTPTime {
	return NTPTime(uint64(seconds)<<32 | uint64(fraction))
}

// shortTime is the NTP short format, unsigned seconds in 16.16 bits.
func shortTime(v uint32) time.Duration {
	return time.Duration((uint64(v)*uint64(time.Second) + 1<<15) >> 16)
}

func shortFormat(d time.Duration) uint32 {
	const most = 1 << 16 * time.Second
	switch {
	case d <= 0:
		return 0
	case d >= most:
		return 1<<32 - 1
	}
	whole, part := uint64(d/time.Second), uint64(d%time.Second)
	return uint32(min(whole<<16+(part<<16+uint64(time.Second)/2)/uint64(time.Second), 1<<32-1))
}
