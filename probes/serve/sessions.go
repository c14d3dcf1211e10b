package serve

import (
	"net/netip"
	"time"
)

// sessions counts what is sent in each session of a stateful reflector. It is of one
// size: what was not heard of for long, or for long among many others, begins anew.
type sessions struct {
	young, old map[session]uint32
	since      time.Time // when the young ones were none
}

// session is told apart by its sender and its SSID (RFC 8972 §3); our own address is the
// same for all.
type session struct {
	sender netip.AddrPort
	ssid   uint16
}

const (
	// longestSilence is how long a session is remembered at least: TWAMP's REFWAIT, RFC
	// 5357 §4.2.
	longestSilence = 15 * time.Minute
	mostYoung      = 1 << 14
)

// next returns the number of the next packet, which counts from 0.
func (s *sessions) next(of session, now time.Time) uint32 {
	if s.young == nil || len(s.young) >= mostYoung || now.Sub(s.since) >= longestSilence {
		s.young, s.old, s.since = map[session]uint32{}, s.young, now
	}
	n, ok := s.young[of]
	if !ok {
		n = s.old[of]
	}
	s.young[of] = n + 1
	return n
}
