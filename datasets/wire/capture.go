package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// CaptureError tells where a capture ends although it should not.
type CaptureError struct {
	Offset int64 // of the record or block that could not be read
	Err    error
}

func (e *CaptureError) Error() string { return fmt.Sprintf("capture: byte %d: %v", e.Offset, e.Err) }

func (e *CaptureError) Unwrap() error { return e.Err }

// CaptureCounts is what became of the frames of a capture: each is in one of
// Packets, Foreign, Fragments, Malformed, UnknownLink and Oversized.
type CaptureCounts struct {
	Frames      int
	Packets     int // handed out
	Foreign     int // neither UDP nor PTP
	Fragments   int // parts of datagrams, which are not put together
	Malformed   int // headers that are cut off or contradict each other
	UnknownLink int // of a link layer that cannot be read
	Oversized   int // no frame of a network is as long

	Unstamped int // of all of these but the last: without a time that can be one
}

func (n *CaptureCounts) count(v verdict) {
	n.Frames++
	switch v {
	case taken:
		n.Packets++
	case foreign:
		n.Foreign++
	case fragment:
		n.Fragments++
	case malformed:
		n.Malformed++
	case unknownLink:
		n.UnknownLink++
	}
}

// Capture reads a recording of network traffic, pcap or pcapng, as a stream, and
// hands out what is UDP or PTP.
type Capture struct {
	r      *bufio.Reader
	offset int64 // of what r gives next
	used   int   // bytes of r that the packet handed out last lies in
	err    error
	counts CaptureCounts

	big    bool // big endian
	next   func(*Packet) bool
	nanos  int64 // pcap: ns in a unit of the fraction
	link   uint32
	links  []ngInterface // pcapng: interfaces of this section
	before int           // interfaces of the sections before
}

// captureBuffer holds the longest record: what tcpdump takes for the longest frame
// (256 KiB), and its headers.
const captureBuffer = 1<<18 + 1<<12

// The first four bytes of a capture, read as little endian.
const (
	pcapMicros    = 0xa1b2c3d4
	pcapMicrosBig = 0xd4c3b2a1
	pcapNanos     = 0xa1b23c4d
	pcapNanosBig  = 0x4d3cb2a1
)

// OpenCapture begins to read a capture, recognised by its first bytes.
func OpenCapture(r io.Reader) (*Capture, error) {
	c := &Capture{r: bufio.NewReaderSize(r, captureBuffer)}
	b := c.peek(4, "file header")
	if b == nil {
		return nil, c.err
	}
	switch magic := binary.LittleEndian.Uint32(b); magic {
	case ngSection: // the same in both byte orders
		c.next = c.nextBlock
	case pcapMicros, pcapMicrosBig:
		c.big, c.nanos = magic == pcapMicrosBig, 1000
	case pcapNanos, pcapNanosBig:
		c.big, c.nanos = magic == pcapNanosBig, 1
	default:
		return nil, &CaptureError{0, fmt.Errorf(`magic "%x": neither pcap nor pcapng`, b)}
	}
	if c.next == nil {
		c.readPcapHeader()
	}
	if c.err != nil {
		return nil, c.err
	}
	return c, nil
}

// Next reads up to the next packet, and returns false at the end and at an error.
func (c *Capture) Next(p *Packet) bool {
	for c.skip(); c.err == nil; c.skip() {
		*p = Packet{}
		if c.next(p) {
			return true
		}
	}
	return false
}

// Err returns why the capture ended, and nil if that was its proper end. Everything
// before it has been handed out.
func (c *Capture) Err() error {
	if errors.Is(c.err, io.EOF) {
		return nil
	}
	return c.err
}

// Counts returns what became of the frames so far.
func (c *Capture) Counts() CaptureCounts { return c.counts }

func (c *Capture) readPcapHeader() {
	const header, linkMask = 24, 0x03ffffff // the other bits tell how long the FCS is
	b := c.peek(header, "file header")
	if b == nil {
		return
	}
	if major, minor := c.u16(b[4:]), c.u16(b[6:]); major != 2 || minor != 4 {
		c.damage("pcap version %d.%d: want 2.4", major, minor)
		return
	}
	c.link = c.u32(b[20:]) & linkMask
	c.used, c.next = header, c.nextRecord
}

// nextRecord reads a record of a pcap file.
func (c *Capture) nextRecord(p *Packet) bool {
	const header, longest = 16, 1 << 28
	b := c.peek(header, "record header")
	if b == nil {
		return false
	}
	seconds, part, kept, long := c.u32(b), c.u32(b[4:]), c.u32(b[8:]), c.u32(b[12:])
	if kept > longest {
		c.damage("a record of %d bytes: the file is damaged here or before", kept)
		return false
	}
	size := header + int(kept)
	if size > captureBuffer {
		c.leave(size)
		return false
	}
	if b = c.peek(size, "record"); b == nil {
		return false
	}
	c.used = size
	if part := int64(part) * c.nanos; part < second {
		p.UnixNanos, p.Stamped = int64(seconds)*second+part, true
	}
	return c.take(p, c.link, b[header:], int(long))
}

// take reads a frame that was long bytes on the wire, and tells whether it is one to
// hand out.
func (c *Capture) take(p *Packet, link uint32, frame []byte, long int) bool {
	v := p.readFrame(link, frame)
	c.counts.count(v)
	if !p.Stamped {
		c.counts.Unstamped++
	}
	if v != taken {
		return false
	}
	if p.Transport == OverEthernet {
		p.OriginalLen = len(p.Payload) + max(0, long-len(frame))
	}
	return true
}

// peek returns the next n bytes, which stay valid until skip. If they are not all
// there it sets the error: the proper end if there is nothing at all.
func (c *Capture) peek(n int, what string) []byte {
	b, err := c.r.Peek(n)
	switch {
	case err == nil:
		return b
	case !errors.Is(err, io.EOF):
		c.err = &CaptureError{c.offset, err}
	case len(b) == 0 && c.offset > 0:
		c.err = io.EOF
	default:
		c.cut(int64(n), int64(len(b)), what)
	}
	return nil
}

// skip leaves the packet that was handed out last.
func (c *Capture) skip() {
	n, _ := c.r.Discard(c.used) // it is in the buffer
	c.offset, c.used = c.offset+int64(n), 0
}

// leave passes over a frame that is too long to be one.
func (c *Capture) leave(size int) {
	n, err := c.r.Discard(size)
	switch {
	case err == nil:
		c.counts.Frames++
		c.counts.Oversized++
		c.offset += int64(n)
	case errors.Is(err, io.EOF):
		c.cut(int64(size), int64(n), "record")
	default:
		c.err = &CaptureError{c.offset, err}
	}
}

func (c *Capture) cut(want, have int64, what string) {
	c.err = &CaptureError{c.offset, fmt.Errorf("%w: the capture is cut off after %d bytes of a %s of %d", io.ErrUnexpectedEOF, have, what, want)}
}

func (c *Capture) damage(format string, args ...any) {
	c.err = &CaptureError{c.offset, fmt.Errorf(format, args...)}
}

func (c *Capture) u16(b []byte) uint16 {
	if c.big {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (c *Capture) u32(b []byte) uint32 {
	if c.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}
