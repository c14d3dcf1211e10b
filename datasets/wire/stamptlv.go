package wire

import (
	"crypto/hmac"
	"encoding/binary"
	"iter"
)

// What stands behind a packet of Size bytes are TLVs: flags, type, length of the value
// (2 bytes) and the value (RFC 8972 §4).
const (
	// STAMPTLVSize is the length of a TLV without its value.
	STAMPTLVSize = 4

	tlvExtraPadding = 1
	tlvHMAC         = 8

	tlvUnknown   = 1 << 7 // U: set by the sender, cleared by a reflector that knows the type
	tlvMalformed = 1 << 6 // M
	tlvIntegrity = 1 << 5 // I: the HMAC of the TLVs does not hold
)

type stampTLV struct {
	at, end int
	kind    uint8
	whole   bool // all of its value is there
}

// tlvs yields the TLVs of a packet up to the first that is cut off. A type of 0, which
// is reserved, begins no TLV: so does the padding of TWAMP Light.
func (s *STAMP) tlvs(b []byte) iter.Seq[stampTLV] {
	return func(yield func(stampTLV) bool) {
		for at := s.at.size; at+STAMPTLVSize <= len(b) && b[at+1] != 0; {
			t := stampTLV{at: at, kind: b[at+1], end: at + STAMPTLVSize + int(binary.BigEndian.Uint16(b[at+2:]))}
			t.whole = t.end <= len(b)
			if !yield(t) || !t.whole {
				return
			}
			at = t.end
		}
	}
}

// PutPadding makes b, from Size on, an Extra Padding TLV, of which the value is left as
// it is. There must be STAMPTLVSize bytes for it, or none.
func (s *STAMP) PutPadding(b []byte) {
	if b = b[s.at.size:]; len(b) > 0 {
		b[0], b[1] = tlvUnknown, tlvExtraPadding
		binary.BigEndian.PutUint16(b[2:], uint16(len(b)-STAMPTLVSize))
	}
}

// MarkTLVs turns the TLVs of a test packet, while the rest of it still is the sender's,
// into those of the reflector: it sets the flags, and leaves all else as it came. Extra
// Padding is known, and in the authenticated mode the HMAC. It returns where that HMAC
// stands, to be made anew by SealTLVs, and 0 for nowhere.
func (s *STAMP) MarkTLVs(b []byte) (sealed int) {
	sealed, trusted := s.verifyTLVs(b)
	for t := range s.tlvs(b) {
		switch {
		case !trusted:
			b[t.at] = tlvIntegrity
		case !t.whole:
			b[t.at] = tlvMalformed
		case t.kind == tlvExtraPadding, t.at == sealed:
			b[t.at] = 0
		default:
			b[t.at] = tlvUnknown
		}
	}
	return sealed
}

// verifyTLVs holds the TLVs against the HMAC that must follow them in the authenticated
// mode, unless there is just one, of padding; padding may follow it (RFC 8972 §4.8).
func (s *STAMP) verifyTLVs(b []byte) (at int, ok bool) {
	if s.mac == nil {
		return 0, true
	}
	padding, others := 0, 0
	for t := range s.tlvs(b) {
		switch {
		case t.kind == tlvExtraPadding:
			padding++
		case at == 0 && t.kind == tlvHMAC && s.holds(b, t):
			at = t.at
		case at != 0:
			return 0, false
		default:
			others++
		}
	}
	return at, at != 0 || others == 0 && padding <= 1
}

// holds tells that an HMAC TLV is that of the TLVs before it.
func (s *STAMP) holds(b []byte, t stampTLV) bool {
	return t.whole && t.end-t.at == STAMPTLVSize+stampMAC && hmac.Equal(s.digestTLVs(b, t.at), b[t.at+STAMPTLVSize:t.end])
}

// SealTLVs writes the HMAC of a packet's TLVs, at the place that MarkTLVs returned.
func (s *STAMP) SealTLVs(b []byte, at int) {
	if at != 0 {
		copy(b[at+STAMPTLVSize:], s.digestTLVs(b, at))
	}
}

// digestTLVs is the HMAC of the sequence number and the TLVs before at.
func (s *STAMP) digestTLVs(b []byte, at int) []byte {
	return s.digest(b[s.at.seq:s.at.seq+4], b[s.at.size:at])
}
