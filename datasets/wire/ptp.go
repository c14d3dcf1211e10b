package wire

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/facebook/time/ptp/protocol"
)

// The UDP ports of PTP, IEEE 1588-2019 annex C. What is stamped goes to the first.
const (
	PTPEventPort   = 319
	PTPGeneralPort = 320
)

// PTPType is the kind of a PTP message, IEEE 1588-2019 table 36.
type PTPType uint8

// The kinds of PTP messages. Those below FollowUp are stamped where they leave and
// arrive, the others only carry what was stamped.
const (
	Sync               = PTPType(protocol.MessageSync)
	DelayReq           = PTPType(protocol.MessageDelayReq)
	PdelayReq          = PTPType(protocol.MessagePDelayReq)
	PdelayResp         = PTPType(protocol.MessagePDelayResp)
	FollowUp           = PTPType(protocol.MessageFollowUp)
	DelayResp          = PTPType(protocol.MessageDelayResp)
	PdelayRespFollowUp = PTPType(protocol.MessagePDelayRespFollowUp)
	Announce           = PTPType(protocol.MessageAnnounce)
	Signaling          = PTPType(protocol.MessageSignaling)
	Management         = PTPType(protocol.MessageManagement)
)

func (t PTPType) String() string {
	switch t {
	case Sync:
		return "Sync"
	case DelayReq:
		return "Delay_Req"
	case PdelayReq:
		return "Pdelay_Req"
	case PdelayResp:
		return "Pdelay_Resp"
	case FollowUp:
		return "Follow_Up"
	case DelayResp:
		return "Delay_Resp"
	case PdelayRespFollowUp:
		return "Pdelay_Resp_Follow_Up"
	case Announce:
		return "Announce"
	case Signaling:
		return "Signaling"
	case Management:
		return "Management"
	}
	return fmt.Sprintf("reserved type %d", uint8(t))
}

// size returns the length of a message without TLVs, and 0 for a reserved type.
func (t PTPType) size() int {
	const header = 34
	switch t {
	case Sync, DelayReq, FollowUp, Signaling:
		return header + 10
	case Management:
		return header + 14
	case PdelayReq, PdelayResp, DelayResp, PdelayRespFollowUp:
		return header + 20
	case Announce:
		return header + 30
	}
	return 0
}

// PTPFlags is the flag field, IEEE 1588-2019 table 37.
type PTPFlags uint16

// The flags that matter here.
const (
	FlagAlternateMaster = PTPFlags(protocol.FlagAlternateMaster)
	FlagTwoStep         = PTPFlags(protocol.FlagTwoStep) // the time stamp follows in another message
	FlagUnicast         = PTPFlags(protocol.FlagUnicast)
	FlagProfile1        = PTPFlags(protocol.FlagProfileSpecific1) // of a Delay_Req: SPTP is asked for
	FlagLeap61          = PTPFlags(protocol.FlagLeap61)
	FlagLeap59          = PTPFlags(protocol.FlagLeap59)
	FlagUTCOffsetValid  = PTPFlags(protocol.FlagCurrentUtcOffsetValid)
	FlagPTPTimescale    = PTPFlags(protocol.FlagPTPTimescale) // counts TAI, else whatever it likes
	FlagTimeTraceable   = PTPFlags(protocol.FlagTimeTraceable)
	FlagFreqTraceable   = PTPFlags(protocol.FlagFrequencyTraceable)
	FlagUncertain       = PTPFlags(protocol.FlagSynchronizationUncertain)
)

// Has tells whether all of the flags are set.
func (f PTPFlags) Has(flags PTPFlags) bool { return f&flags == flags }

// PTP is a message of PTP version 2.0 (IEEE 1588-2008) or 2.1 (2019), 802.1AS
// included. What its type does not carry is zero; of Signaling and Management
// messages there is the header alone.
type PTP struct {
	Type         PTPType
	Minor        uint8  // of version 2
	SdoID        uint16 // 0x100 is 802.1AS
	Domain       uint8
	Flags        PTPFlags
	Correction   Correction
	Source       PortID
	Sequence     uint16
	LogInterval  int8    // log2 seconds; 127 is none
	Timestamp    PTPTime // origin, precise origin, receive, request receipt or response origin
	Requesting   PortID  // whom a Delay_Resp, Pdelay_Resp or Pdelay_Resp_Follow_Up answers
	Announcement Announcement

	// TLVs are what follows the body within the message, as it is: a part of the bytes
	// that were decoded, not a copy.
	TLVs []byte
}

// Announcement is what an Announce tells of the clock it comes from.
type Announcement struct {
	// UTCOffset is how far TAI is ahead of UTC, to be relied upon only if the message
	// has FlagUTCOffsetValid.
	UTCOffset    time.Duration
	Grandmaster  ClockID
	Class        uint8  // 6 locked to its reference, 7 holdover, 248 free-running, 255 slave only
	Accuracy     uint8  // table 5: 0x21 within 100 ns, 0xfe unknown
	Variance     uint16 // offsetScaledLogVariance, 0xffff unknown
	Priority1    uint8
	Priority2    uint8
	StepsRemoved uint16 // boundary clocks in between
	TimeSource   uint8  // table 6: 0x20 GNSS, 0xa0 internal oscillator
}

// DecodePTP reads a message, whatever follows it in the packet (padding of Ethernet,
// two bytes of UDP over IPv6). TLVs are not read: a broken or unknown one costs
// nothing.
func DecodePTP(b []byte) (PTP, error) {
	const shortest = 44
	if len(b) < shortest {
		return PTP{}, fmt.Errorf("ptp: %d bytes are too short for a message (%d)", len(b), shortest)
	}
	kind := PTPType(protocol.SdoIDAndMsgType(b[0]).MsgType())
	length := int(binary.BigEndian.Uint16(b[2:]))
	switch size := kind.size(); {
	case b[1]&protocol.MajorVersionMask != protocol.MajorVersion:
		return PTP{}, fmt.Errorf("ptp: version %d: want 2", b[1]&protocol.MajorVersionMask)
	case size == 0:
		return PTP{}, fmt.Errorf("ptp: message of %v", kind)
	case length < size:
		return PTP{}, fmt.Errorf("ptp: %v of %d bytes: want %d", kind, length, size)
	case length > len(b):
		return PTP{}, fmt.Errorf("ptp: %v is cut off: %d bytes of %d", kind, len(b), length)
	default:
		return decodePTP(b[:length], kind, size)
	}
}

// decodePTP reads a message that is whole. The library's parsers of Follow_Up,
// Delay_Resp and Announce serve for all types: the other ones read TLVs, refuse a
// message for one they do not know, or go through reflection.
func decodePTP(b []byte, kind PTPType, size int) (m PTP, err error) {
	switch kind {
	case Sync, DelayReq, FollowUp, Signaling, Management:
		var p protocol.FollowUp
		if err = p.UnmarshalBinary(b); err == nil {
			m = ptpOf(&p.Header, p.PreciseOriginTimestamp)
		}
	case PdelayReq, PdelayResp, DelayResp, PdelayRespFollowUp:
		var p protocol.DelayResp
		if err = p.UnmarshalBinary(b); err == nil {
			m = ptpOf(&p.Header, p.ReceiveTimestamp)
			m.Requesting = portID(p.RequestingPortIdentity)
		}
	case Announce:
		var p protocol.Announce
		if err = p.UnmarshalBinary(withoutTLVs(b, size)); err == nil {
			m = ptpOf(&p.Header, p.OriginTimestamp)
			m.Announcement = announcement(&p.AnnounceBody)
		}
	}
	if err != nil {
		return PTP{}, fmt.Errorf("ptp: %v: %w", kind, err)
	}
	switch kind {
	case PdelayReq:
		m.Requesting = PortID{} // reserved bytes
	case Signaling, Management:
		m.Timestamp = PTPTime{} // the target's identity
	default:
	}
	m.TLVs = b[size:]
	return m, nil
}

// withoutTLVs returns the first size bytes of a message as a message of its own.
func withoutTLVs(b []byte, size int) []byte {
	if len(b) == size {
		return b
	}
	body := append(make([]byte, 0, size), b[:size]...)
	binary.BigEndian.PutUint16(body[2:], uint16(size))
	return body
}

func ptpOf(h *protocol.Header, t protocol.Timestamp) PTP {
	return PTP{
		Type: PTPType(h.MessageType()), Minor: h.Version >> 4,
		SdoID: uint16(h.SdoIDAndMsgType>>4)<<8 | uint16(h.MinorSdoID), Domain: h.DomainNumber,
		Flags: PTPFlags(h.FlagField), Correction: Correction(h.CorrectionField),
		Source: portID(h.SourcePortIdentity), Sequence: h.SequenceID, LogInterval: int8(h.LogMessageInterval),
		Timestamp: PTPTime{t.Seconds.Seconds(), t.Nanoseconds},
	}
}

func portID(p protocol.PortIdentity) PortID { return PortID{ClockID(p.ClockIdentity), p.PortNumber} }

func announcement(a *protocol.AnnounceBody) Announcement {
	q := a.GrandmasterClockQuality
	return Announcement{
		UTCOffset: time.Duration(a.CurrentUTCOffset) * time.Second, Grandmaster: ClockID(a.GrandmasterIdentity),
		Class: uint8(q.ClockClass), Accuracy: uint8(q.ClockAccuracy), Variance: q.OffsetScaledLogVariance,
		Priority1: a.GrandmasterPriority1, Priority2: a.GrandmasterPriority2,
		StepsRemoved: a.StepsRemoved, TimeSource: uint8(a.TimeSource),
	}
}
