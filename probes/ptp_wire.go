package probes

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/facebook/time/ptp/protocol"

	"github.com/tickmark/tickmark/datasets/wire"
)

// repliesToSender is a port number that has ptp4u answer to where it was asked from: it
// must be above 10.
const repliesToSender = 11

// newPortID returns an identity that nobody else has: random, with the bit that says
// it is no manufacturer's.
func newPortID() wire.PortID {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: the program would have ended
	const local, multicast = 1 << 57, 1 << 56
	return wire.PortID{Clock: wire.ClockID(binary.BigEndian.Uint64(b[:])&^multicast | local), Port: 1}
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
	length   time.Duration
}

// purpose is what a Signaling message of ours is for.
type purpose uint8

const (
	request purpose = iota
	cancel
	acknowledge // a cancellation
)

// signaling writes a message about sessions.
func signaling(id wire.PortID, domain uint8, number uint16, what purpose, sessions ...session) ([]byte, error) {
	const fixed = 44
	p := protocol.Signaling{TargetPortIdentity: protocol.PortIdentity{ClockIdentity: ^protocol.ClockIdentity(0), PortNumber: 0xffff}}
	length := fixed
	for _, s := range sessions {
		tlv, size := s.tlv(what)
		p.TLVs, length = append(p.TLVs, tlv), length+size
	}
	p.Header = ptpHeader(protocol.MessageSignaling, length, protocol.FlagUnicast, id, domain, number)
	b, err := p.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("ptp: Signaling: %w", err)
	}
	return append(b, 0, 0), nil
}

func (s session) tlv(what purpose) (protocol.TLV, int) {
	const head, long, short = 4, 6, 2
	kind := protocol.NewUnicastMsgTypeAndFlags(protocol.MessageType(s.kind), 0)
	switch what {
	case cancel:
		return &protocol.CancelUnicastTransmissionTLV{
			TLVHead: protocol.TLVHead{TLVType: protocol.TLVCancelUnicastTransmission, LengthField: short}, MsgTypeAndFlags: kind,
		}, head + short
	case acknowledge:
		return &protocol.AcknowledgeCancelUnicastTransmissionTLV{
			TLVHead: protocol.TLVHead{TLVType: protocol.TLVAcknowledgeCancelUnicastTransmission, LengthField: short}, MsgTypeAndFlags: kind,
		}, head + short
	case request:
	}
	return &protocol.RequestUnicastTransmissionTLV{
		TLVHead:            protocol.TLVHead{TLVType: protocol.TLVRequestUnicastTransmission, LengthField: long},
		MsgTypeAndReserved: kind, LogInterMessagePeriod: protocol.LogInterval(s.interval), DurationField: uint32(s.length / time.Second),
	}, head + long
}

// grant is what a master says of a session; one of length 0 it denies.
type grant struct {
	session
	cancelled bool
}

// grants reads what a Signaling message grants, denies and cancels. What it does not
// know it passes over, and what is broken ends it.
func grants(m *wire.PTP) []grant {
	const head, granting, cancelling, reserved = 4, 8, 2, 6
	var all []grant
	for tlvs := m.TLVs; len(tlvs) >= head; {
		kind, size := protocol.TLVType(binary.BigEndian.Uint16(tlvs)), int(binary.BigEndian.Uint16(tlvs[2:]))
		if size > len(tlvs)-head {
			break
		}
		b := tlvs[head : head+size]
		tlvs = tlvs[head+size:]
		switch {
		case kind == protocol.TLVGrantUnicastTransmission && size >= granting:
			// message type, interval, duration (4 bytes), reserved, flags
			length := time.Duration(binary.BigEndian.Uint32(b[2:reserved])) * time.Second
			all = append(all, grant{session: session{wire.PTPType(b[0] >> 4), int8(b[1]), length}})
		case kind == protocol.TLVCancelUnicastTransmission && size >= cancelling:
			all = append(all, grant{session: session{kind: wire.PTPType(b[0] >> 4)}, cancelled: true})
		}
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
