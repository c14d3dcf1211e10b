package serve

import (
	"encoding/binary"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/probes/stamp"
)

// Where the fields of an NTP header begin that differ from reply to reply: RFC 5905,
// figure 8. The library makes the rest of the header once; a test holds what we
// write here equal to what it would.
const (
	atSettings       = 0
	atStratum        = 1
	atPoll           = 2
	atRootDelay      = 4
	atRootDispersion = 8
	atReference      = 12
	atReferenceTime  = 16
	atOrigin         = 24
	atReceive        = 32
	atTransmit       = 40
)

// The parts of the first byte: leap indicator, version, mode.
const (
	unsynchronised = 3 << 6
	versionMask    = 7 << 3
	modeMask       = 7
	modeClient     = 3
	modeServer     = 4
)

// ntpService answers clients (mode 3) as a server (mode 4) that takes this host's
// clock for its reference.
type ntpService struct {
	start      time.Time
	header     []byte // of every reply
	departures departures
}

func newNTPService(stratum int, start time.Time) (*ntpService, error) {
	precision := clockPrecision()
	h := protocol.Packet{
		Settings:  modeServer,
		Stratum:   uint8(stratum),
		Precision: precision,
		// Against its reference, which is itself, the clock is off by its precision.
		RootDispersion: ntpShort(time.Duration(float64(time.Second) * pow2(precision))),
		ReferenceID:    referenceID(stratum),
	}
	b, err := h.Bytes()
	return &ntpService{start: start, header: b}, err
}

// referenceID returns "LOCL", an uncalibrated local clock (RFC 4330, section 4), or,
// where the id is that of an upstream server, the 127.127.1.1 by which ntpd and
// chronyd name the same.
func referenceID(stratum int) uint32 {
	if stratum == 1 {
		return binary.BigEndian.Uint32([]byte("LOCL"))
	}
	return 127<<24 | 127<<16 | 1<<8 | 1
}

// accepts takes versions 1 to 4. What follows the header, extension fields or a
// MAC, is not looked at and not returned.
func (s *ntpService) accepts(b []byte) bool {
	if len(b) < protocol.PacketSizeBytes {
		return false
	}
	version := b[atSettings] & versionMask >> 3
	return b[atSettings]&modeMask == modeClient && version >= 1 && version <= 4
}

func (s *ntpService) answer(b []byte, _ int, a *stamp.Arrival, t *treatment) int {
	version, poll := b[atSettings]&versionMask, b[atPoll]
	origin, _ := s.interleave(b, t)
	wall, _ := a.Wall.UnixNanos()
	wall += int64(t.received())
	copy(b, s.header)
	b[atSettings] |= version
	b[atPoll] = poll
	if t.forged {
		origin = ^origin
	}
	binary.BigEndian.PutUint64(b[atOrigin:], origin)
	binary.BigEndian.PutUint64(b[atReceive:], receiveTime(wall))
	// The reference is read all the time; clients want it before T3 and not a day old.
	binary.BigEndian.PutUint64(b[atReferenceTime:], ntpTime(wall-int64(time.Second)))
	if t.root != nil {
		binary.BigEndian.PutUint32(b[atRootDelay:], ntpShort(t.root.delay))
		binary.BigEndian.PutUint32(b[atRootDispersion:], ntpShort(t.root.dispersion))
	}
	if t.kiss != "" {
		b[atSettings] |= unsynchronised
		b[atStratum] = 0
		clear(b[atReference : atReference+4])
		copy(b[atReference:atReference+4], t.kiss)
	}
	return protocol.PacketSizeBytes
}

func (s *ntpService) seal(b []byte, t *treatment) {
	if t.earlier != 0 {
		binary.BigEndian.PutUint64(b[atTransmit:], t.earlier)
		return
	}
	now := time.Now()
	binary.BigEndian.PutUint64(b[atTransmit:], transmitTime(now.UnixNano()+int64(t.sent(now.Sub(s.start)))))
}
