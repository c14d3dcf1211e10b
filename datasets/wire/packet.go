package wire

import (
	"encoding/binary"
	"net/netip"
)

// Transport tells what carries a packet.
type Transport uint8

// The transports that NTP and PTP use.
const (
	OverUDP      Transport = iota
	OverEthernet           // PTP as EtherType 0x88F7
)

// MAC is a hardware address; zero is none.
type MAC [6]byte

// IsMulticast tells whether more than one station is meant.
func (m MAC) IsMulticast() bool { return m[0]&1 != 0 }

// Packet is a datagram as it passed the point of capture. Its slices belong to the
// [Capture] and hold until the next one is read.
type Packet struct {
	// UnixNanos is when it passed, by the clock of the capture. Unless Stamped, the
	// capture has no time for it, or one that can be none.
	UnixNanos int64
	Stamped   bool

	// Interface counts the interfaces of a capture from 0; of Linux's "any" in its
	// second form it is the kernel's number.
	Interface     int
	InterfaceName string // if the capture tells

	Transport      Transport
	SrcMAC, DstMAC MAC            // what the link has of them
	Src, Dst       netip.AddrPort // of UDP

	Payload []byte
	// OriginalLen is the length of the payload on the wire: more than is in Payload if
	// the capture kept the beginning of each packet only.
	OriginalLen int
}

// ReadEthernet takes the addresses and the payload out of a frame of Ethernet that was
// not captured to a file, and returns false for what is neither UDP nor PTP. When it
// passed the caller knows.
func (p *Packet) ReadEthernet(frame []byte) bool {
	v := p.readFrame(linkEthernet, frame)
	if p.Transport == OverEthernet {
		p.OriginalLen = len(p.Payload)
	}
	return v == taken
}

// verdict tells what a frame was.
type verdict uint8

const (
	taken     verdict = iota
	foreign           // neither UDP nor PTP
	fragment          // a part of a datagram
	malformed         // headers that contradict each other or are not all there
	unknownLink
)

// The link types of a capture, tcpdump.org/linktypes.html.
const (
	linkNull     = 0
	linkEthernet = 1
	linkRawOld   = 12
	linkRawBSD   = 14
	linkRaw      = 101
	linkLoop     = 108
	linkCooked   = 113
	linkIPv4     = 228
	linkIPv6     = 229
	linkCooked2  = 276
)

// EtherTypes.
const (
	etherIPv4    = 0x0800
	etherIPv6    = 0x86dd
	etherPTP     = 0x88f7
	etherVLAN    = 0x8100
	etherQinQ    = 0x88a8
	etherQinQOld = 0x9100
)

// readFrame takes the addresses and the payload out of a frame.
func (p *Packet) readFrame(link uint32, b []byte) verdict {
	switch link {
	case linkEthernet:
		return p.readEthernet(b)
	case linkCooked:
		return p.readCooked(b)
	case linkCooked2:
		return p.readCooked2(b)
	case linkNull, linkLoop:
		return p.readLoopback(b)
	case linkRaw, linkRawOld, linkRawBSD, linkIPv4, linkIPv6:
		return p.readIP(b)
	}
	return unknownLink
}

func (p *Packet) readEthernet(b []byte) verdict {
	const header = 14
	if len(b) < header {
		return malformed
	}
	p.DstMAC, p.SrcMAC = MAC(b[0:6]), MAC(b[6:12])
	return p.readEtherType(binary.BigEndian.Uint16(b[12:]), b[header:])
}

// readCooked reads a frame of Linux's "any" interface.
func (p *Packet) readCooked(b []byte) verdict {
	const header = 16
	if len(b) < header {
		return malformed
	}
	if binary.BigEndian.Uint16(b[4:]) == 6 {
		p.SrcMAC = MAC(b[6:12])
	}
	return p.readEtherType(binary.BigEndian.Uint16(b[14:]), b[header:])
}

// readCooked2 reads its second form, which tells the interface.
func (p *Packet) readCooked2(b []byte) verdict {
	const header = 20
	if len(b) < header {
		return malformed
	}
	p.Interface = int(binary.BigEndian.Uint32(b[4:]) & 0x7fffffff)
	if b[11] == 6 {
		p.SrcMAC = MAC(b[12:18])
	}
	return p.readEtherType(binary.BigEndian.Uint16(b), b[header:])
}

// readLoopback reads a frame behind an address family in the byte order of the host,
// or of the network (OpenBSD).
func (p *Packet) readLoopback(b []byte) verdict {
	if len(b) < 4 {
		return malformed
	}
	family := binary.LittleEndian.Uint32(b)
	if family > 0xffff {
		family = binary.BigEndian.Uint32(b)
	}
	switch family {
	case 2, 10, 24, 28, 30: // AF_INET, and AF_INET6 of Linux, NetBSD, FreeBSD, Darwin
		return p.readIP(b[4:])
	}
	return foreign
}

func (p *Packet) readEtherType(kind uint16, b []byte) verdict {
	for kind == etherVLAN || kind == etherQinQ || kind == etherQinQOld {
		if len(b) < 4 {
			return malformed
		}
		kind, b = binary.BigEndian.Uint16(b[2:]), b[4:]
	}
	switch kind {
	case etherIPv4, etherIPv6:
		return p.readIP(b)
	case etherPTP:
		p.Transport, p.Payload = OverEthernet, b
		return taken
	}
	return foreign
}

func (p *Packet) readIP(b []byte) verdict {
	if len(b) == 0 {
		return malformed
	}
	switch b[0] >> 4 {
	case 4:
		return p.readIPv4(b)
	case 6:
		return p.readIPv6(b)
	}
	return malformed
}

const protocolUDP = 17

func (p *Packet) readIPv4(b []byte) verdict {
	const shortest, moreOrOffset = 20, 0x3fff
	if len(b) < shortest {
		return malformed
	}
	header, total := int(b[0]&15)*4, int(binary.BigEndian.Uint16(b[2:]))
	switch {
	case header < shortest || total < header || len(b) < header:
		return malformed
	case binary.BigEndian.Uint16(b[6:])&moreOrOffset != 0:
		return fragment
	case b[9] != protocolUDP:
		return foreign
	}
	src, dst := netip.AddrFrom4([4]byte(b[12:16])), netip.AddrFrom4([4]byte(b[16:20]))
	return p.readUDP(src, dst, b[header:], total-header)
}

func (p *Packet) readIPv6(b []byte) verdict {
	const header = 40
	if len(b) < header {
		return malformed
	}
	src, dst := netip.AddrFrom16([16]byte(b[8:24])), netip.AddrFrom16([16]byte(b[24:40]))
	next, length := b[6], int(binary.BigEndian.Uint16(b[4:]))
	b = b[header:]
	for next != protocolUDP {
		size, v := extensionSize(next, b)
		if v != taken {
			return v
		}
		if size > len(b) || size > length {
			return malformed
		}
		next, b, length = b[0], b[size:], length-size
	}
	return p.readUDP(src, dst, b, length)
}

// extensionSize returns the length of the IPv6 extension header that b begins with,
// RFC 8200 §4 and RFC 4302.
func extensionSize(kind byte, b []byte) (int, verdict) {
	const (
		hopByHop, routing, fragmented, authentication, options, mobility = 0, 43, 44, 51, 60, 135
		moreOrOffset                                                     = 0xfff9
	)
	switch kind {
	case hopByHop, routing, fragmented, authentication, options, mobility:
	default:
		return 0, foreign
	}
	if len(b) < 8 {
		return 0, malformed
	}
	switch kind {
	case fragmented:
		if binary.BigEndian.Uint16(b[2:])&moreOrOffset != 0 {
			return 0, fragment
		}
		return 8, taken
	case authentication:
		return int(b[1])*4 + 8, taken
	}
	return int(b[1])*8 + 8, taken
}

// readUDP reads a datagram that the network layer says is length bytes long.
func (p *Packet) readUDP(src, dst netip.Addr, b []byte, length int) verdict {
	const header = 8
	if len(b) < header {
		return malformed
	}
	size := int(binary.BigEndian.Uint16(b[4:]))
	if size < header || size > length {
		return malformed
	}
	p.Transport = OverUDP
	p.Src = netip.AddrPortFrom(src, binary.BigEndian.Uint16(b))
	p.Dst = netip.AddrPortFrom(dst, binary.BigEndian.Uint16(b[2:]))
	p.Payload, p.OriginalLen = b[header:min(size, len(b))], size-header
	return taken
}
