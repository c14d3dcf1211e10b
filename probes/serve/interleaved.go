package serve

import (
	"encoding/binary"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// departures remembers when the kernel sent the last replies, by the receive time that
// each of them told: what an interleaved client asks for (RFC 9769). The table is of
// one size; a newer reply takes an older one's place. The listener sees to it that one
// goroutine uses it at a time.
type departures struct{ place [1 << 12]departure }

// departure is T3 of the reply that told received, both as on the wire.
type departure struct{ received, transmit uint64 }

func (d *departures) at(received uint64) *departure {
	const golden = 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio: spreads neighbours
	return &d.place[received*golden>>(64-12)]
}

func (d *departures) remember(received, transmit uint64) {
	*d.at(received) = departure{received, transmit}
}

// recall returns T3 of the reply that told received, once, and false if it is forgotten:
// a request that comes again, or from somebody who replays it, is not told again (RFC
// 9769, section 2).
func (d *departures) recall(received uint64) (transmit uint64, ok bool) {
	p := d.at(received)
	if received == 0 || p.received != received {
		return 0, false
	}
	transmit, *p = p.transmit, departure{}
	return transmit, true
}

// interleave makes a reply to a client that asks for it tell when the last one really
// left. b is still the request, but for what answer has written.
func (s *ntpService) interleave(request []byte, t *treatment) (origin uint64, ok bool) {
	received, transmit := binary.BigEndian.Uint64(request[atReceive:]), binary.BigEndian.Uint64(request[atTransmit:])
	if received == transmit || received == 0 {
		return transmit, false
	}
	if t.earlier, ok = s.departures.recall(binary.BigEndian.Uint64(request[atOrigin:])); !ok {
		return transmit, false
	}
	return received, true
}

// left notes when a reply left, by the kernel's stamp.
func (s *ntpService) left(reply []byte, at datasets.Stamp, t *treatment) {
	if wall, ok := at.UnixNanos(); ok {
		shift := t.sent(time.Unix(0, wall).Sub(s.start))
		s.departures.remember(binary.BigEndian.Uint64(reply[atReceive:]), transmitTime(wall+int64(shift)))
	}
}
