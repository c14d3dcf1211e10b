package probes

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/facebook/time/ptp/protocol"

	"github.com/tickmark/tickmark/datasets/wire"
)

// newPortID returns an identity that nobody else has: random, with the bit that says
// it is no manufacturer's. A port above 10 has ptp4u answer to where it was asked from.
func newPortID() wire.PortID {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: the program would have ended
	const local, multicast = 1 << 57, 1 << 56
	return wire.PortID{Clock: wire.ClockID(binary.BigEndian.Uint64(b[:])&^multicast | local), Port: 11}
}

func ptpHeader(kind protocol.MessageType, length int, flags uint16, id wire.PortID, domain uint8, number uint16) protocol.Header {
	return protocol.Header{
		SdoIDAndMsgType: protocol.NewSdoIDAndMsgType(kind, 0), Version: protocol.Version, MessageLength: uint16(length),
		DomainNumber: domain, FlagField: flags, SequenceID: number, LogMessageInterval: 0x7f,
		SourcePortIdentity: protocol.PortIdentity{ClockIdentity: protocol.ClockIdentity(id.Clock), PortNumber: id.Port},
	}
}

// delayReq writes a Delay_Req; of SPTP, which asks for Sync and Announce in return, or
// else within a negotiated session.
func delayReq(id wire.PortID, domain uint8, number uint16, simple bool) ([]byte, error) {
	const length = 44
	flags := uint16(protocol.FlagUnicast)
	if simple {
		flags |= protocol.FlagProfileSpecific1
	}
	p := protocol.SyncDelayReq{Header: ptpHeader(protocol.MessageDelayReq, length, flags, id, domain, number)}
	b, err := p.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("ptp: Delay_Req: %w", err)
	}
	return append(b, 0, 0), nil // which UDP over IPv6 has for its checksum
}

// session is what is negotiated: messages of a kind, 2^interval seconds apart.
type session struct {
	kind     wire.PTPType
	interval int8
	length   time.Duration // 0 ends it
}

// signaling writes a request for sessions, or the end of one.
func signaling(id wire.PortID, domain uint8, number uint16, sessions ...session) ([]byte, error) {
	const head, tlvHead, request, cancel = 44, 4, 6, 2
	p := protocol.Signaling{TargetPortIdentity: protocol.PortIdentity{ClockIdentity: ^protocol.ClockIdentity(0), PortNumber: 0xffff}}
	length := head
	for _, s := range sessions {
		kind := protocol.NewUnicastMsgTypeAndFlags(protocol.MessageType(s.kind), 0)
		if s.length == 0 {
			length += tlvHead + cancel
			p.TLVs = append(p.TLVs, &protocol.CancelUnicastTransmissionTLV{
				TLVHead: protocol.TLVHead{TLVType: protocol.TLVCancelUnicastTransmission, LengthField: cancel}, MsgTypeAndFlags: kind,
			})
			continue
		}
		length += tlvHead + request
		p.TLVs = append(p.TLVs, &protocol.RequestUnicastTransmissionTLV{
			TLVHead:            protocol.TLVHead{TLVType: protocol.TLVRequestUnicastTransmission, LengthField: request},
			MsgTypeAndReserved: kind, LogInterMessagePeriod: protocol.LogInterval(s.interval), DurationField: uint32(s.length / time.Second),
		})
	}
	p.Header = ptpHeader(protocol.MessageSignaling, length, protocol.FlagUnicast, id, domain, number)
	b, err := p.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("ptp: Signaling: %w", err)
	}
	return append(b, 0, 0), nil
}

// granted returns the sessions that a Signaling message grants, of length 0 those it
// refuses. What it does not know it passes over.
func granted(m *wire.PTP) []session {
	var all []session
	for tlvs := m.TLVs; len(tlvs) >= 4; {
		kind, size := protocol.TLVType(binary.BigEndian.Uint16(tlvs)), 4+int(binary.BigEndian.Uint16(tlvs[2:]))
		if size > len(tlvs) {
			break
		}
		var g protocol.GrantUnicastTransmissionTLV
		if kind == protocol.TLVGrantUnicastTransmission && size >= 12 && g.UnmarshalBinary(tlvs[:size]) == nil {
			all = append(all, session{wire.PTPType(g.MsgTypeAndReserved.MsgType()), int8(g.LogInterMessagePeriod), time.Duration(g.DurationField) * time.Second})
		}
		tlvs = tlvs[size:]
	}
	return all
}

// accuracyOf is the claim of a clockAccuracy, and false if there is none.
func accuracyOf(a *wire.Announcement) (time.Duration, bool) {
	const first, last = 0x17, 0x30 // 1 ps to 10 s, IEEE 1588-2019 table 5
	if a.Accuracy < first || a.Accuracy > last {
		return 0, false
	}
	return protocol.ClockAccuracy(a.Accuracy).Duration(), true
}
