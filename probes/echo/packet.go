// Package echo is the packet of tickmark's UDP echo: a request that carries its
// own name and send time, and a reply that adds when the server had it.
//
// A server answers a request, never a reply, with a packet of the same length, so
// that it cannot be used to amplify traffic and two servers cannot answer each
// other for ever. It parses a packet, fills in its own stamps, and appends the
// packet to the front of the buffer it came in; what stands behind [Size] is
// padding and goes back as it came.
package echo

import (
	"encoding/binary"
	"fmt"
)

// Size is the length of a packet in bytes, without padding.
const Size = 96

const (
	magic   = "tmk\xe4"
	version = 1
	isReply = 1 // the only flag
	used    = 72
)

// Packet is a request or a reply. Times are in nanoseconds; those of the server
// are zero in a request.
type Packet struct {
	Session    uint64 // drawn at random by the client, so that an old or forged reply is told apart
	Seq        uint64 // number of the attempt in the session
	ClientSent int64  // on a clock of the client's choice; the server does not read it

	ServerReceived     int64 // on the server's own monotonic clock, after its read returned
	ServerSent         int64 // on the same clock: only the difference of the two means anything
	ServerReceivedWall int64 // since 1970, by the server's wall clock, when the packet arrived
	ServerSentWall     int64 // since 1970, by the same clock
	ServerQueued       int64 // from the kernel's arrival stamp to the server's read; 0 if unknown

	Reply bool
}

// Append writes the packet behind dst: [Size] bytes, big-endian.
//
//	 0  magic "tmk\xe4"       32  server received
//	 4  version               40  server sent
//	 5  flags: 1 is a reply   48  server received, wall
//	 6  zero                  56  server sent, wall
//	 8  session               64  server queued
//	16  seq                   72  zero, up to Size
//	24  client sent
func (p *Packet) Append(dst []byte) []byte {
	var b [Size]byte
	copy(b[:], magic)
	b[4] = version
	if p.Reply {
		b[5] = isReply
	}
	for i, v := range [...]uint64{
		p.Session, p.Seq, uint64(p.ClientSent), uint64(p.ServerReceived), uint64(p.ServerSent),
		uint64(p.ServerReceivedWall), uint64(p.ServerSentWall), uint64(p.ServerQueued),
	} {
		binary.BigEndian.PutUint64(b[8+8*i:], v)
	}
	return append(dst, b[:]...)
}

// Parse reads a packet from the front of b, and refuses what Append cannot have
// written. Padding behind [Size] is passed over.
func Parse(b []byte) (Packet, error) {
	if err := check(b); err != nil {
		return Packet{}, err
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(b[8+8*i:]) }
	return Packet{
		Session: at(0), Seq: at(1), ClientSent: int64(at(2)),
		ServerReceived: int64(at(3)), ServerSent: int64(at(4)),
		ServerReceivedWall: int64(at(5)), ServerSentWall: int64(at(6)), ServerQueued: int64(at(7)),
		Reply: b[5] == isReply,
	}, nil
}

func check(b []byte) error {
	switch {
	case len(b) < Size:
		return fmt.Errorf("echo: packet of %d bytes: want at least %d", len(b), Size)
	case string(b[:4]) != magic:
		return fmt.Errorf("echo: packet begins with %q: want %q", b[:4], magic)
	case b[4] != version:
		return fmt.Errorf("echo: packet of version %d: want %d", b[4], version)
	case b[5]&^isReply != 0 || b[6] != 0 || b[7] != 0:
		return fmt.Errorf("echo: flags %x: want 000000 or 010000", b[5:8])
	case [Size - used]byte(b[used:Size]) != [Size - used]byte{}:
		return fmt.Errorf("echo: reserved bytes %x: want zeros", b[used:Size])
	}
	return nil
}
