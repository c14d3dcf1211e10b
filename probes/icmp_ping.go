package probes

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
)

// icmpHeader is the length of an echo's header: type, code, checksum, identifier and
// sequence number (RFC 792, RFC 4443).
const icmpHeader = 8

// ping carries the packets of tickmark's echo as the payload of ICMP echoes, whose
// sequence number is the last bits of theirs. A host returns the payload as it came,
// so that what makes it a reply is the message it comes in.
type ping struct {
	*icmpSocket
	form echoForm
	out  []byte // used by who writes
	in   []byte // used by who reads
}

func dialPing(remote netip.Addr, size int) (*ping, error) {
	socket, err := openICMP(remote)
	if err != nil {
		return nil, err
	}
	const longestIPv4Header = 60 // RFC 791, 3.1
	return &ping{
		icmpSocket: socket,
		form:       echoForm{v6: remote.Is6(), id: uint16(rand.Uint32()), any: socket.kind == datagramICMP},
		out:        make([]byte, 0, icmpHeader+size),
		in:         make([]byte, longestIPv4Header+icmpHeader+size+1),
	}, nil
}

// The two kinds of sockets that send echoes. A datagram socket needs no privilege; it
// has an identifier of its own, which the system writes, and gets the replies to it alone.
const (
	datagramICMP = "datagram"
	rawICMP      = "raw"
)

// Write sends a packet of the echo.
func (p *ping) Write(b []byte) (int, error) {
	packet, err := echo.Parse(b)
	if err != nil {
		return 0, err
	}
	p.out = p.form.append(p.out[:0], uint16(packet.Seq), b)
	return len(b), p.send(p.out)
}

// Read waits for a reply to an echo of ours.
func (p *ping) Read(buf []byte) (stamp.Arrival, error) {
	for {
		a, err := p.receive(p.in)
		if err != nil {
			return a, err
		}
		if payload, ok := p.form.payload(p.in[:a.N]); ok {
			a.N = copy(buf, payload)
			return a, nil
		}
	}
}

// echoForm is how echoes of one socket look.
type echoForm struct {
	v6  bool
	id  uint16
	any bool // the system sees to the identifier
}

// append writes an echo request. The checksum of ICMPv6, which covers addresses, is the
// system's to fill in (RFC 3542, 3.1).
func (f echoForm) append(dst []byte, seq uint16, payload []byte) []byte {
	const request, request6 = 8, 128
	kind := byte(request)
	if f.v6 {
		kind = request6
	}
	start := len(dst)
	dst = append(dst, kind, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, f.id)
	dst = binary.BigEndian.AppendUint16(dst, seq)
	dst = append(dst, payload...)
	if !f.v6 {
		binary.BigEndian.PutUint16(dst[start+2:], checksum(dst[start:]))
	}
	return dst
}

// payload returns what a message brings back, and false for one that is no reply to an
// echo of this socket. A payload whose sequence number is not that of its message is no
// reply and says so.
func (f echoForm) payload(message []byte) (payload []byte, ok bool) {
	const reply, reply6 = 0, 129
	kind := byte(reply)
	if f.v6 {
		kind = reply6
	} else {
		message = withoutIPv4(message)
	}
	if len(message) < icmpHeader || message[0] != kind || message[1] != 0 {
		return nil, false
	}
	if id := binary.BigEndian.Uint16(message[4:]); id != f.id && !f.any {
		return nil, false
	}
	payload = message[icmpHeader:]
	if p, err := echo.Parse(payload); err == nil {
		p.Reply = !p.Reply && uint16(p.Seq) == binary.BigEndian.Uint16(message[6:])
		p.Append(payload[:0])
	}
	return payload, true
}

// withoutIPv4 takes off the header that raw sockets hand over (RFC 791, 3.1). An ICMP
// message we care for begins with 0, its type.
func withoutIPv4(b []byte) []byte {
	if len(b) > 0 && b[0]>>4 == 4 {
		return b[min(len(b), 4*int(b[0]&0xf)):]
	}
	return b
}

// checksum is the Internet's, RFC 1071.
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(binary.BigEndian.Uint16(b))
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	sum = sum>>16 + sum&0xffff
	return ^uint16(sum + sum>>16)
}
