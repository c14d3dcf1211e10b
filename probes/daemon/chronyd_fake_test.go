package daemon

import (
	"encoding/binary"
	"math"
	"net/netip"
)

// fakeChronyd is what a chronyd of the test's own says, put on the wire from candm.h's
// description: every number in network order, floats as below.
type fakeChronyd struct {
	tracking chronyTracking
	sources  []chronyPeer
	private  bool // it is asked over its unix socket
}

type chronyTracking struct {
	refID                                         uint32
	address                                       netip.Addr
	stratum, leap                                 uint16
	refSeconds                                    int64
	correction, lastOffset, rmsOffset             float64
	freq, residFreq, skew                         float64
	rootDelay, rootDispersion, lastUpdateInterval float64
}

type chronyPeer struct {
	address               netip.Addr
	poll                  int16
	stratum, state, reach uint16
	sinceSample           uint32
	orig, latest, err     float64
	samples               uint32
	skew, estimate        float64
	packetOffset          float64
	flags                 uint16 // 10 tests, interleaved, authenticated
}

// The commands and replies of candm.h.
const (
	reqNSources, rpyNSources       = 14, 2
	reqSourceData, rpySourceData   = 15, 3
	reqTracking, rpyTracking       = 33, 5
	reqSourceStats, rpySourceStats = 34, 6
	reqNTPData, rpyNTPData         = 57, 16
	reqSelectData, rpySelectData   = 69, 23
)

func (f *fakeChronyd) answer(request []byte) []byte {
	command := binary.BigEndian.Uint16(request[cmdmonCommand:])
	index := int(binary.BigEndian.Uint32(request[20:])) // behind the head of a request
	private := command == reqNTPData || command == reqSelectData
	switch {
	case private && !f.private:
		return chronyReply(request, 1, cmdmonUnauth, nil)
	case (command == reqSourceData || command == reqSourceStats || command == reqSelectData) && index >= len(f.sources):
		return chronyReply(request, 1, cmdmonNoSource, nil)
	}
	switch command {
	case reqTracking:
		return chronyReply(request, rpyTracking, 0, f.tracking.bytes())
	case reqNSources:
		return chronyReply(request, rpyNSources, 0, binary.BigEndian.AppendUint32(nil, uint32(len(f.sources))))
	case reqSourceData:
		return chronyReply(request, rpySourceData, 0, f.sources[index].data())
	case reqSourceStats:
		return chronyReply(request, rpySourceStats, 0, f.sources[index].stats())
	case reqSelectData:
		return chronyReply(request, rpySelectData, 0, f.sources[index].selection())
	case reqNTPData:
		for _, s := range f.sources {
			if a := s.address.As4(); string(a[:]) == string(request[20:24]) {
				return chronyReply(request, rpyNTPData, 0, s.packets())
			}
		}
	}
	return chronyReply(request, 1, 3, nil) // invalid
}

func chronyReply(request []byte, kind, status uint16, content []byte) []byte {
	b := make([]byte, cmdmonHead, cmdmonHead+len(content))
	b[0], b[1] = cmdmonVersion, cmdmonReply
	copy(b[cmdmonCommand:], request[cmdmonCommand:cmdmonCommand+2])
	binary.BigEndian.PutUint16(b[6:], kind)
	binary.BigEndian.PutUint16(b[cmdmonStatus:], status)
	copy(b[cmdmonReplyTo:], request[cmdmonSequence:cmdmonSequence+4])
	return append(b, content...)
}

func (t chronyTracking) bytes() []byte {
	b := binary.BigEndian.AppendUint32(nil, t.refID)
	b = appendChronyAddr(b, t.address)
	b = binary.BigEndian.AppendUint16(b, t.stratum)
	b = binary.BigEndian.AppendUint16(b, t.leap)
	b = appendChronyTime(b, t.refSeconds)
	return appendChronyFloats(b, t.correction, t.lastOffset, t.rmsOffset, t.freq, t.residFreq, t.skew,
		t.rootDelay, t.rootDispersion, t.lastUpdateInterval)
}

func (p chronyPeer) data() []byte {
	b := appendChronyAddr(nil, p.address)
	for _, v := range []uint16{uint16(p.poll), p.stratum, p.state, 0, 0, p.reach} {
		b = binary.BigEndian.AppendUint16(b, v)
	}
	b = binary.BigEndian.AppendUint32(b, p.sinceSample)
	return appendChronyFloats(b, p.orig, p.latest, p.err)
}

func (p chronyPeer) stats() []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x01020304)
	b = appendChronyAddr(b, p.address)
	for _, v := range []uint32{p.samples, 3, 60} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return appendChronyFloats(b, 1e-6, 0.01, p.skew, p.estimate, 2e-6)
}

func (p chronyPeer) selection() []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x01020304)
	b = appendChronyAddr(b, p.address)
	b = append(b, '*', 0, 0, 0, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, p.sinceSample)
	return appendChronyFloats(b, 1, -1e-3, 1e-3)
}

func (p chronyPeer) packets() []byte {
	b := appendChronyAddr(appendChronyAddr(nil, p.address), netip.MustParseAddr("198.51.100.2"))
	b = binary.BigEndian.AppendUint16(b, 123)
	b = append(b, 0, 4, 4, byte(p.stratum), 6, 0xE7) // leap, version, mode, stratum, poll, precision −25
	b = appendChronyFloats(b, 0.001, 0.002)
	b = binary.BigEndian.AppendUint32(b, 0x7F7F0101)
	b = appendChronyTime(b, 1790000000)
	b = appendChronyFloats(b, p.packetOffset, 0.004, 1e-7, 4.6e-5, 0)
	b = binary.BigEndian.AppendUint16(b, p.flags)
	b = append(b, 'K', 'K')
	for _, v := range []uint32{159, 159, 159, 0, 0, 0, 0} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func appendChronyAddr(b []byte, a netip.Addr) []byte {
	var raw [16]byte
	family := uint16(0)
	if a.IsValid() {
		family = 1
		four := a.As4()
		copy(raw[:], four[:])
	}
	b = append(b, raw[:]...)
	b = binary.BigEndian.AppendUint16(b, family)
	return append(b, 0, 0)
}

func appendChronyTime(b []byte, sec int64) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(sec>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(sec))
	return binary.BigEndian.AppendUint32(b, 500_000_000)
}

// appendChronyFloats writes 7 bits of exponent and 25 of coefficient, both signed, with
// the value coefficient × 2^(exponent − 25).
func appendChronyFloats(b []byte, values ...float64) []byte {
	for _, v := range values {
		fraction, exponent := math.Frexp(v) // v = fraction × 2^exponent, fraction below 1
		coefficient := int32(math.Round(fraction * (1 << 24)))
		if coefficient == 1<<24 || coefficient == -1<<24 {
			coefficient /= 2
			exponent++
		}
		if v == 0 {
			exponent = -1
		}
		b = binary.BigEndian.AppendUint32(b, uint32(exponent+1)<<25|uint32(coefficient)&(1<<25-1))
	}
	return b
}
