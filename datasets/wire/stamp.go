package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
)

// STAMP is the Simple Two-Way Active Measurement Protocol (RFC 8762) in one of its two
// modes: unauthenticated, or authenticated by a key that both ends have. One goroutine
// uses it at a time.
type STAMP struct {
	at  stampLayout
	mac hash.Hash // nil is unauthenticated
	sum [sha256.Size]byte
}

// STAMPPort is where a reflector listens unless told otherwise, RFC 8762 §4.1.
const STAMPPort = 862

// stampLayout is where the fields of a packet begin: of the sender's the first four, of
// the reflector's all.
type stampLayout struct {
	size, seq, time, errorEstimate, ssid, received     int
	senderSeq, senderTime, senderError, senderTTL, mac int
}

// plainLayout is RFC 8762 figures 2 and 5, with the SSID of RFC 8972 figures 1 and 2.
func plainLayout() stampLayout { return stampLayout{44, 0, 4, 12, 14, 16, 24, 28, 36, 40, 44} }

// sealedLayout is RFC 8762 figures 4 and 6, with the SSID of RFC 8972 figures 3 and 4.
func sealedLayout() stampLayout { return stampLayout{112, 0, 16, 24, 26, 32, 48, 64, 72, 80, 96} }

// The least that is taken for a packet of the unauthenticated mode: what TWAMP Light,
// which has the same fields at the same places, sends without padding (RFC 5357 §4.1.2
// and §4.2.1).
const (
	leastTest      = 14
	leastReflected = 41
)

// ErrSTAMPKey says that a packet is not by one who has the key.
var ErrSTAMPKey = errors.New("stamp: the HMAC does not hold")

// NewSTAMP returns the authenticated mode, with HMAC-SHA-256 (§4.4), or the
// unauthenticated one for a key of no bytes.
func NewSTAMP(key []byte) *STAMP {
	if len(key) == 0 {
		return &STAMP{at: plainLayout()}
	}
	return &STAMP{at: sealedLayout(), mac: hmac.New(sha256.New, key)}
}

// Size returns the length of a packet without TLVs, the same both ways.
func (s *STAMP) Size() int { return s.at.size }

// STAMPTest is what a session's sender sends.
type STAMPTest struct {
	Seq   uint32
	Time  STAMPTime // when it left
	Error ErrorEstimate
	SSID  uint16 // RFC 8972 §3: names the session with the addresses; 0 is none
}

// STAMPReflected is what the reflector makes of it.
type STAMPReflected struct {
	STAMPTest           // its own: stateless, Seq is the sender's; stateful, it counts what it sends
	Received  STAMPTime // when the sender's packet arrived
	Sender    STAMPTest // as it was received, but for the SSID
	TTL       uint8     // or hop limit, of the sender's packet on its arrival
}

// Test reads a sender's packet. In the unauthenticated mode it takes one of TWAMP Light
// that is shorter than Size, and has no SSID then. Must-be-zero fields may be anything.
func (s *STAMP) Test(b []byte) (STAMPTest, error) {
	if err := s.check(b, leastTest); err != nil {
		return STAMPTest{}, err
	}
	p := s.own(b)
	if len(b) >= s.at.size {
		p.SSID = binary.BigEndian.Uint16(b[s.at.ssid:])
	}
	return p, nil
}

// Reflected reads a reflector's packet. In the unauthenticated mode it takes one of
// TWAMP Light without padding.
func (s *STAMP) Reflected(b []byte) (STAMPReflected, error) {
	if err := s.check(b, leastReflected); err != nil {
		return STAMPReflected{}, err
	}
	be := binary.BigEndian
	p := STAMPReflected{
		STAMPTest: s.own(b),
		Received:  STAMPTime(be.Uint64(b[s.at.received:])),
		Sender: STAMPTest{
			Seq:   be.Uint32(b[s.at.senderSeq:]),
			Time:  STAMPTime(be.Uint64(b[s.at.senderTime:])),
			Error: ErrorEstimate(be.Uint16(b[s.at.senderError:])),
		},
		TTL: b[s.at.senderTTL],
	}
	p.SSID = be.Uint16(b[s.at.ssid:])
	return p, nil
}

func (s *STAMP) own(b []byte) STAMPTest {
	return STAMPTest{
		Seq:   binary.BigEndian.Uint32(b[s.at.seq:]),
		Time:  STAMPTime(binary.BigEndian.Uint64(b[s.at.time:])),
		Error: ErrorEstimate(binary.BigEndian.Uint16(b[s.at.errorEstimate:])),
	}
}

// check verifies as early as can be what is not to be believed otherwise (§4.4).
func (s *STAMP) check(b []byte, least int) error {
	if s.mac != nil {
		least = s.at.size
	}
	if len(b) < least {
		return fmt.Errorf("stamp: packet of %d bytes: want at least %d", len(b), least)
	}
	if s.mac != nil && !hmac.Equal(s.digest(b[:s.at.mac]), b[s.at.mac:s.at.size]) {
		return ErrSTAMPKey
	}
	return nil
}

// AlreadyReflected tells that a packet bears the marks of a reflector: it left less than
// an hour after it arrived. To answer it could go on for ever. What a sender sends has
// zeros there, or padding, of which one in 600,000 looks so by chance.
func (s *STAMP) AlreadyReflected(b []byte) bool {
	if len(b) < s.at.received+8 {
		return false
	}
	left, arrived := binary.BigEndian.Uint32(b[s.at.time:]), binary.BigEndian.Uint32(b[s.at.received:])
	return arrived != 0 && left-arrived+3600 <= 2*3600
}

// PutTest writes a sender's packet into the front of b, but for its HMAC: see Seal.
func (s *STAMP) PutTest(b []byte, p *STAMPTest) {
	clear(b[:s.at.size])
	s.putOwn(b, p)
}

// PutReflected is PutTest for a reflector's.
func (s *STAMP) PutReflected(b []byte, p *STAMPReflected) {
	s.PutTest(b, &p.STAMPTest)
	be := binary.BigEndian
	be.PutUint64(b[s.at.received:], uint64(p.Received))
	be.PutUint32(b[s.at.senderSeq:], p.Sender.Seq)
	be.PutUint64(b[s.at.senderTime:], uint64(p.Sender.Time))
	be.PutUint16(b[s.at.senderError:], uint16(p.Sender.Error))
	b[s.at.senderTTL] = p.TTL
}

func (s *STAMP) putOwn(b []byte, p *STAMPTest) {
	be := binary.BigEndian
	be.PutUint32(b[s.at.seq:], p.Seq)
	be.PutUint64(b[s.at.time:], uint64(p.Time))
	be.PutUint16(b[s.at.errorEstimate:], uint16(p.Error))
	be.PutUint16(b[s.at.ssid:], p.SSID)
}

// Seal makes a packet complete: it writes when it leaves, by the clock of that error
// estimate, and in the authenticated mode the HMAC of all that stands before it.
func (s *STAMP) Seal(b []byte, at STAMPTime, e ErrorEstimate) {
	binary.BigEndian.PutUint64(b[s.at.time:], uint64(at))
	binary.BigEndian.PutUint16(b[s.at.errorEstimate:], uint16(e))
	if s.mac != nil {
		copy(b[s.at.mac:s.at.size], s.digest(b[:s.at.mac]))
	}
}

const stampMAC = 16 // bytes of a SHA-256 that is cut off, §4.4

// digest is good until the next one.
func (s *STAMP) digest(parts ...[]byte) []byte {
	s.mac.Reset()
	for _, b := range parts {
		s.mac.Write(b)
	}
	return s.mac.Sum(s.sum[:0])[:stampMAC]
}
