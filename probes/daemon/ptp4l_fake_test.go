package daemon

import (
	"bytes"
	"encoding/binary"

	ptp "github.com/facebook/time/ptp/protocol"
)

// fakePtp4l is what a ptp4l of the test's own says, in one domain.
type fakePtp4l struct {
	domain, sdo uint8
	own         ptp.DefaultDataSetTLV
	current     ptp.CurrentDataSetTLV
	parent      ptp.ParentDataSetTLV
	scale       timeProperties
	status      ptp.TimeStatusNPTLV
	ports       []portDataSet
	old         bool // knows no messages of ptp4l's own about ports
}

// goodPtp4l says what pmc printed of a laboratory's slave.
func goodPtp4l() *fakePtp4l {
	const self, master = 0x264a43fffe0dbafd, 0x8ee8cefffec0bfa8
	slaveOnly := ptp.ClockQuality{ClockClass: 255, ClockAccuracy: 0xfe, OffsetScaledLogVariance: 0xffff}
	quality := ptp.ClockQuality{ClockClass: 248, ClockAccuracy: 0xfe, OffsetScaledLogVariance: 0xffff}
	return &fakePtp4l{
		domain:  24,
		own:     ptp.DefaultDataSetTLV{SoTSC: 3, NumberPorts: 1, Priority1: 200, ClockQuality: slaveOnly, Priority2: 128, ClockIdentity: self, DomainNumber: 24},
		current: ptp.CurrentDataSetTLV{StepsRemoved: 1, OffsetFromMaster: ptp.NewTimeInterval(869), MeanPathDelay: ptp.NewTimeInterval(1860)},
		parent: ptp.ParentDataSetTLV{
			ParentPortIdentity: ptp.PortIdentity{ClockIdentity: master, PortNumber: 1}, GrandmasterPriority1: 100, GrandmasterClockQuality: quality,
			GrandmasterPriority2: 128, GrandmasterIdentity: master, ObservedParentOffsetScaledLogVariance: 0xffff, ObservedParentClockPhaseChangeRate: 0x7fffffff,
		},
		scale:  timeProperties{CurrentUTCOffset: 37, TimeSource: 0xa0},
		status: ptp.TimeStatusNPTLV{MasterOffsetNS: 869, IngressTimeNS: 1796071207113916479, GMPresent: 1, GMIdentity: master},
		ports: []portDataSet{{
			PortIdentity: ptp.PortIdentity{ClockIdentity: self, PortNumber: 1}, PortState: ptp.PortStateSlave,
			AnnounceReceiptTimeout: 3, LogSyncInterval: -1, DelayMechanism: 1, VersionNumber: 2,
		}},
	}
}

func (f *fakePtp4l) answer(request []byte) []byte {
	if request[mgmtDomain] != f.domain || request[0]>>4 != f.sdo || len(request) < mgmtData {
		return nil // as ptp4l does
	}
	id := ptp.ManagementID(binary.BigEndian.Uint16(request[mgmtTLV+4:]))
	port := int(binary.BigEndian.Uint16(request[mgmtTarget+8:]))
	switch id {
	case ptp.IDDefaultDataSet:
		return ptpReply(request, ptp.TLVManagement, id, f.own, nil)
	case ptp.IDCurrentDataSet:
		return ptpReply(request, ptp.TLVManagement, id, f.current, nil)
	case ptp.IDParentDataSet:
		return ptpReply(request, ptp.TLVManagement, id, f.parent, nil)
	case idTimeProperties:
		return ptpReply(request, ptp.TLVManagement, id, f.scale, nil)
	case ptp.IDTimeStatusNP:
		return ptpReply(request, ptp.TLVManagement, id, f.status, nil)
	default: // of a port
	}
	if port < 1 || port > len(f.ports) {
		return nil
	}
	p := f.ports[port-1]
	switch {
	case id == idPortDataSet:
		return ptpReply(request, ptp.TLVManagement, id, p, nil)
	case id == ptp.IDPortStatsNP && !f.old:
		stats := ptp.PortStats{RXMsgType: [16]uint64{ptp.MessageSync: 142}, TXMsgType: [16]uint64{ptp.MessageDelayReq: 72}}
		var b bytes.Buffer
		_ = binary.Write(&b, binary.BigEndian, p.PortIdentity)
		_ = binary.Write(&b, binary.NativeEndian, stats) // ptp4l leaves these as its host has them
		return ptpReply(request, ptp.TLVManagement, id, nil, b.Bytes())
	case id == ptp.IDPortPropertiesNP && !f.old:
		var b bytes.Buffer
		_ = binary.Write(&b, binary.BigEndian, p.PortIdentity)
		b.Write([]byte{byte(p.PortState), 0, 2, 'v', 'c', 0})
		return ptpReply(request, ptp.TLVManagement, id, nil, b.Bytes())
	}
	return ptpReply(request, ptp.TLVManagementErrorStatus, id, nil, []byte{0, 0, 0, 0, 0, 0})
}

// ptpReply answers with a data set, whose own head is left out, or with data.
func ptpReply(request []byte, kind ptp.TLVType, id ptp.ManagementID, set any, data []byte) []byte {
	b := append([]byte(nil), request[:mgmtTLV]...)
	copy(b[mgmtTarget:], request[mgmtSource:mgmtSource+10])
	b[mgmtAction] = byte(ptp.RESPONSE)
	if set != nil {
		var all bytes.Buffer
		_ = binary.Write(&all, binary.BigEndian, set)
		data = all.Bytes()[6:]
	}
	b = binary.BigEndian.AppendUint16(b, uint16(kind))
	b = binary.BigEndian.AppendUint16(b, uint16(2+len(data)))
	if kind == ptp.TLVManagementErrorStatus {
		b = binary.BigEndian.AppendUint16(b, uint16(ptp.ErrorNoSuchID))
	}
	b = binary.BigEndian.AppendUint16(b, uint16(id))
	b = append(b, data...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}
