package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The blocks of a pcapng file that matter here.
const (
	ngSection      = 0x0a0d0d0a
	ngDescription  = 1
	ngOldPacket    = 2
	ngSimplePacket = 3
	ngPacket       = 6
)

// ngInterface is what an interface description block tells.
type ngInterface struct {
	name    string
	link    uint32
	kept    uint32 // bytes of a packet at most; 0 is no limit
	seconds int64  // if_tsoffset: to be added to each time stamp
	binary  bool   // if_tsresol: a unit is 2^-digits s, else 10^-digits s
	digits  uint8
}

// nextBlock reads a block of a pcapng file.
func (c *Capture) nextBlock(p *Packet) bool {
	const around, longest = 12, 1 << 30 // type, length, and the length again
	b := c.peek(around, "block header")
	if b == nil {
		return false
	}
	if binary.LittleEndian.Uint32(b) == ngSection && !c.readByteOrder(b[8:]) {
		return false
	}
	kind, size := c.u32(b), int64(c.u32(b[4:]))
	if size < around || size%4 != 0 || size > longest {
		c.damage("a block of %d bytes: the file is damaged here or before", size)
		return false
	}
	if size > captureBuffer {
		return c.leaveBlock(kind, int(size))
	}
	if b = c.peek(int(size), "block"); b == nil {
		return false
	}
	if again := int64(c.u32(b[size-4:])); again != size {
		c.damage("a block of %d bytes ends as one of %d: the file is damaged here", size, again)
		return false
	}
	c.used = int(size)
	return c.readBlock(p, kind, b[8:size-4])
}

// leaveBlock passes over a block that is longer than any frame.
func (c *Capture) leaveBlock(kind uint32, size int) bool {
	switch kind {
	case ngSection, ngDescription:
		c.damage("a block of type %d and %d bytes", kind, size)
		return false
	}
	before := c.counts
	c.leave(size)
	if kind != ngPacket && kind != ngSimplePacket && kind != ngOldPacket {
		c.counts = before
	}
	return false
}

// readByteOrder sets the byte order of the section that begins.
func (c *Capture) readByteOrder(b []byte) bool {
	const magic = 0x1a2b3c4d
	switch {
	case binary.LittleEndian.Uint32(b) == magic:
		c.big = false
	case binary.BigEndian.Uint32(b) == magic:
		c.big = true
	default:
		c.damage(`pcapng: byte order "%x": want 1a2b3c4d`, b[:4])
		return false
	}
	return true
}

// readBlock reads the body of a block; those of other types are passed over.
func (c *Capture) readBlock(p *Packet, kind uint32, b []byte) bool {
	switch kind {
	case ngSection:
		c.readSection(b)
	case ngDescription:
		c.readDescription(b)
	case ngPacket:
		if c.whole(len(b) >= 20) {
			return c.takeStamped(p, c.u32(b), b[4:])
		}
	case ngOldPacket:
		if c.whole(len(b) >= 20) {
			return c.takeStamped(p, uint32(c.u16(b)), b[4:])
		}
	case ngSimplePacket:
		if c.whole(len(b) >= 4) {
			return c.takeSimple(p, b)
		}
	}
	return false
}

func (c *Capture) whole(ok bool) bool {
	if !ok {
		c.damage("a block is too short for its type: the file is damaged here")
	}
	return ok
}

func (c *Capture) readSection(b []byte) {
	if !c.whole(len(b) >= 16) {
		return
	}
	if major := c.u16(b[4:]); major != 1 {
		c.damage("pcapng version %d.%d: want 1", major, c.u16(b[6:]))
		return
	}
	c.before += len(c.links)
	c.links = c.links[:0]
}

func (c *Capture) readDescription(b []byte) {
	const most = 1 << 16
	if !c.whole(len(b) >= 8) {
		return
	}
	if len(c.links) == most {
		c.damage("a section of more than %d interfaces", most)
		return
	}
	i := ngInterface{link: uint32(c.u16(b)), kept: c.u32(b[4:]), digits: 6}
	for b = b[8:]; len(b) >= 4; {
		code, size := c.u16(b), int(c.u16(b[2:]))
		padded := 4 + (size+3)&^3
		if code == 0 {
			break
		}
		if !c.whole(len(b) >= padded) {
			return
		}
		c.readOption(&i, code, b[4:4+size])
		b = b[padded:]
	}
	c.links = append(c.links, i)
}

func (c *Capture) readOption(i *ngInterface, code uint16, b []byte) {
	const name, resolution, offset = 2, 9, 14
	switch {
	case code == name:
		i.name = string(b)
	case code == resolution && len(b) == 1:
		i.binary, i.digits = b[0]&0x80 != 0, b[0]&0x7f
	case code == offset && len(b) == 8 && c.big:
		i.seconds = int64(binary.BigEndian.Uint64(b))
	case code == offset && len(b) == 8:
		i.seconds = int64(binary.LittleEndian.Uint64(b))
	}
}

// takeStamped reads what follows the interface in a packet block: time, lengths, frame.
func (c *Capture) takeStamped(p *Packet, id uint32, b []byte) bool {
	if int64(id) >= int64(len(c.links)) {
		c.damage("a packet of interface %d: the section has described %d", id, len(c.links))
		return false
	}
	const header = 16
	kept, long := c.u32(b[8:]), c.u32(b[12:])
	if !c.whole(int64(kept) <= int64(len(b)-header)) {
		return false
	}
	i := &c.links[id]
	p.UnixNanos, p.Stamped = i.unixNanos(uint64(c.u32(b))<<32 | uint64(c.u32(b[4:])))
	p.Interface, p.InterfaceName = c.before+int(id), i.name
	return c.take(p, i.link, b[header:header+int(kept)], int(long))
}

// takeSimple reads a simple packet block: it has no time, and is of the first interface.
func (c *Capture) takeSimple(p *Packet, b []byte) bool {
	if len(c.links) == 0 {
		c.damage("a packet of interface 0: the section has described none")
		return false
	}
	i, long := &c.links[0], c.u32(b)
	kept := min(int64(long), int64(len(b)-4))
	if i.kept > 0 {
		kept = min(kept, int64(i.kept))
	}
	p.Interface, p.InterfaceName = c.before, i.name
	return c.take(p, i.link, b[4:4+kept], int(long))
}

// unixNanos converts a time stamp, rounded down, and returns false if it does not fit
// into 64 bits.
func (i *ngInterface) unixNanos(units uint64) (int64, bool) {
	const most = math.MaxInt64 / second
	ns, ok := i.nanos(units)
	if !ok || ns > math.MaxInt64 || i.seconds > most {
		return 0, false
	}
	whole, part := int64(ns)/second+i.seconds, int64(ns)%second
	if whole >= most || whole <= -most {
		return 0, false
	}
	return whole*second + part, true
}

// nanos returns units in nanoseconds, in integers throughout.
func (i *ngInterface) nanos(units uint64) (uint64, bool) {
	const nine = 9
	switch {
	case i.binary:
		hi, lo := bits.Mul64(units, uint64(second))
		n := uint(i.digits)
		if n >= 64 {
			return hi >> (n - 64), true
		}
		return hi<<(64-n) | lo>>n, hi>>n == 0
	case i.digits <= nine:
		hi, lo := bits.Mul64(units, tens(nine-i.digits))
		return lo, hi == 0
	case i.digits-nine >= 20: // more than 64 bits of them in a nanosecond
		return 0, true
	}
	return units / tens(i.digits-nine), true
}

// tens returns 10^n for n below 20.
func tens(n uint8) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
