package daemon

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	ptp "github.com/facebook/time/ptp/protocol"
)

// Where a PTP management message (IEEE 1588-2019 §15.4) says which question it answers.
const (
	mgmtDomain   = 4
	mgmtSource   = 20 // port identity, 10 bytes
	mgmtSequence = 30
	mgmtTarget   = 34 // port identity, 10 bytes
	mgmtAction   = 46
	mgmtTLV      = 48
	mgmtData     = 54 // of a question without data, the end
)

// What the library's codec has no structures for.
const idTimeProperties, idPortDataSet = ptp.IDTimePropertiesDataSet, ptp.IDPortDataSet

// timeProperties is TIME_PROPERTIES_DATA_SET, IEEE 1588-2019 table 88.
type timeProperties struct {
	ptp.ManagementTLVHead
	CurrentUTCOffset int16
	Flags            uint8
	TimeSource       uint8
}

// The flags of timeProperties.
const (
	flagLeap61 = 1 << iota
	flagLeap59
	flagUTCValid
	flagPTPTimescale
	flagTimeTraceable
	flagFrequencyTraceable
)

// portDataSet is PORT_DATA_SET, IEEE 1588-2019 table 89.
type portDataSet struct {
	ptp.ManagementTLVHead
	PortIdentity            ptp.PortIdentity
	PortState               ptp.PortState
	LogMinDelayReqInterval  int8
	PeerMeanPathDelay       ptp.TimeInterval
	LogAnnounceInterval     int8
	AnnounceReceiptTimeout  uint8
	LogSyncInterval         int8
	DelayMechanism          uint8
	LogMinPdelayReqInterval int8
	VersionNumber           uint8
}

// manager asks one ptp4l.
type manager struct {
	link     link
	self     ptp.PortIdentity // whom the answers are for
	sequence uint16
	domain   uint8
	sdo      uint8 // transportSpecific
	found    bool
}

// question returns a GET without data, which is what pmc sends.
func (m *manager) question(id ptp.ManagementID, target ptp.PortIdentity) ([]byte, error) {
	m.sequence++
	q := ptp.Management{
		ManagementMsgHead: ptp.ManagementMsgHead{
			Header: ptp.Header{
				SdoIDAndMsgType: ptp.NewSdoIDAndMsgType(ptp.MessageManagement, m.sdo), Version: 2, MessageLength: mgmtData,
				DomainNumber: m.domain, SourcePortIdentity: m.self, SequenceID: m.sequence,
				LogMessageInterval: ptp.MgmtLogMessageInterval,
			},
			TargetPortIdentity: target, ActionField: ptp.GET,
		},
		TLV: &ptp.ManagementTLVHead{TLVHead: ptp.TLVHead{TLVType: ptp.TLVManagement, LengthField: 2}, ManagementID: id},
	}
	return q.MarshalBinary()
}

// answersManagement reports whether reply answers question. The library would take any.
func answersManagement(question, reply []byte) bool {
	if len(reply) < mgmtData+2 || reply[0] != question[0] || reply[1]&0xf != 2 || reply[mgmtDomain] != question[mgmtDomain] ||
		ptp.Action(reply[mgmtAction]) != ptp.RESPONSE ||
		!bytes.Equal(reply[mgmtSequence:mgmtSequence+2], question[mgmtSequence:mgmtSequence+2]) ||
		!bytes.Equal(reply[mgmtTarget:mgmtTarget+10], question[mgmtSource:mgmtSource+10]) {
		return false
	}
	id := reply[mgmtTLV+4 : mgmtTLV+6]
	if tlvType(reply) == ptp.TLVManagementErrorStatus { // the reason comes first
		id = reply[mgmtTLV+6 : mgmtTLV+8]
	}
	return bytes.Equal(id, question[mgmtTLV+4:mgmtTLV+6])
}

func tlvType(reply []byte) ptp.TLVType {
	return ptp.TLVType(binary.BigEndian.Uint16(reply[mgmtTLV:]))
}

// errManagement is an answer that says no.
type errManagement struct{ reason ptp.ManagementErrorID }

func (e errManagement) Error() string { return "ptp4l says " + e.reason.String() }

// get asks for one data set of the clock, or of one of its ports.
func get[T any](ctx context.Context, m *manager, id ptp.ManagementID, target ptp.PortIdentity) (*T, error) {
	question, err := m.question(id, target)
	if err != nil {
		return nil, err
	}
	reply, err := m.link.ask(ctx, question, func(reply []byte) bool { return answersManagement(question, reply) })
	if err != nil {
		m.found = false // another ptp4l may come back in its place
		return nil, err
	}
	return decodeManagement[T](reply)
}

// decodeManagement returns the data set in a reply.
func decodeManagement[T any](reply []byte) (set *T, err error) {
	defer func() {
		if broke := recover(); broke != nil {
			err = fmt.Errorf("a reply of %d bytes breaks its decoder: %v", len(reply), broke)
		}
	}()
	if len(reply) < mgmtData {
		return nil, io.ErrUnexpectedEOF
	}
	switch tlvType(reply) {
	case ptp.TLVManagementErrorStatus:
		return nil, errManagement{ptp.ManagementErrorID(binary.BigEndian.Uint16(reply[mgmtTLV+4:]))}
	case ptp.TLVManagement:
	default:
		return nil, fmt.Errorf("a reply with a TLV of type %d, want 1", tlvType(reply))
	}
	set = new(T)
	switch any(set).(type) {
	case *timeProperties, *portDataSet:
		return set, binary.Read(bytes.NewReader(reply[mgmtTLV:]), binary.BigEndian, set)
	}
	var message ptp.Management
	if err := message.UnmarshalBinary(reply); err != nil {
		return nil, err
	}
	set, ok := any(message.TLV).(*T)
	if !ok {
		return nil, fmt.Errorf("a reply with %T, which this question has not", message.TLV)
	}
	return set, nil
}

// Domains from 128 on are reserved. gPTP (802.1AS) has transportSpecific 1.
const (
	domains = 128
	sdos    = 2
)

// find learns which domain this ptp4l is in: it leaves the questions of any other
// unanswered, and nothing else tells. All are asked at once.
func (m *manager) find(ctx context.Context) error {
	if m.found {
		return nil
	}
	var questions [][]byte
	for sdo := range uint8(sdos) {
		for domain := range uint8(domains) {
			m.sdo, m.domain = sdo, domain
			q, err := m.question(ptp.IDDefaultDataSet, ptp.DefaultTargetPortIdentity)
			if err != nil {
				return err
			}
			questions = append(questions, q)
		}
	}
	return m.link.exchange(ctx, func(conn net.Conn) error {
		for _, q := range questions {
			if _, err := conn.Write(q); err != nil {
				return err
			}
		}
		reply, err := m.link.next(conn, func(reply []byte) bool {
			for _, q := range questions {
				if answersManagement(q, reply) {
					return true
				}
			}
			return false
		})
		if err != nil {
			return err
		}
		m.sdo, m.domain, m.found = reply[0]>>4, reply[mgmtDomain], true
		return nil
	})
}
