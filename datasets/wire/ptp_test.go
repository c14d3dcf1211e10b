package wire_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/facebook/time/ptp/protocol"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tickmark/tickmark/datasets/wire"
)

// encodePTP writes a message with the library's encoders, or the layout of IEEE
// 1588-2019 clause 13 where it has none.
func encodePTP(tb testing.TB, m *wire.PTP) []byte {
	tb.Helper()
	h := protocol.Header{
		SdoIDAndMsgType: protocol.NewSdoIDAndMsgType(protocol.MessageType(m.Type), uint8(m.SdoID>>8)),
		Version:         m.Minor<<4 | 2, DomainNumber: m.Domain, MinorSdoID: uint8(m.SdoID), FlagField: uint16(m.Flags),
		CorrectionField: protocol.Correction(m.Correction), SourcePortIdentity: identity(m.Source), SequenceID: m.Sequence,
		LogMessageInterval: protocol.LogInterval(m.LogInterval),
	}
	var p protocol.Packet
	switch m.Type {
	case wire.Sync, wire.DelayReq:
		p = &protocol.SyncDelayReq{Header: h, SyncDelayReqBody: protocol.SyncDelayReqBody{OriginTimestamp: timestamp(m.Timestamp)}}
	case wire.FollowUp:
		p = &protocol.FollowUp{Header: h, FollowUpBody: protocol.FollowUpBody{PreciseOriginTimestamp: timestamp(m.Timestamp)}}
	case wire.DelayResp:
		p = &protocol.DelayResp{Header: h, DelayRespBody: protocol.DelayRespBody{ReceiveTimestamp: timestamp(m.Timestamp), RequestingPortIdentity: identity(m.Requesting)}}
	case wire.PdelayReq:
		p = &protocol.PDelayReq{Header: h, PDelayReqBody: protocol.PDelayReqBody{OriginTimestamp: timestamp(m.Timestamp)}}
	case wire.PdelayResp:
		p = &protocol.PDelayResp{Header: h, PDelayRespBody: protocol.PDelayRespBody{RequestReceiptTimestamp: timestamp(m.Timestamp), RequestingPortIdentity: identity(m.Requesting)}}
	case wire.PdelayRespFollowUp:
		p = &protocol.PDelayRespFollowUp{Header: h, PDelayRespFollowUpBody: protocol.PDelayRespFollowUpBody{ResponseOriginTimestamp: timestamp(m.Timestamp), RequestingPortIdentity: identity(m.Requesting)}}
	case wire.Announce:
		a := m.Announcement
		p = &protocol.Announce{Header: h, AnnounceBody: protocol.AnnounceBody{
			OriginTimestamp: timestamp(m.Timestamp), CurrentUTCOffset: int16(a.UTCOffset / time.Second),
			GrandmasterPriority1: a.Priority1, GrandmasterPriority2: a.Priority2, GrandmasterIdentity: protocol.ClockIdentity(a.Grandmaster),
			GrandmasterClockQuality: protocol.ClockQuality{ClockClass: protocol.ClockClass(a.Class), ClockAccuracy: protocol.ClockAccuracy(a.Accuracy), OffsetScaledLogVariance: a.Variance},
			StepsRemoved:            a.StepsRemoved, TimeSource: protocol.TimeSource(a.TimeSource),
		}}
	case wire.Signaling, wire.Management:
		p = &struct {
			protocol.Header
			Target [14]byte
		}{Header: h}
	}
	b, err := protocol.Bytes(p)
	if err != nil {
		tb.Fatal(err)
	}
	b = b[:len(b)-protocol.TrailingBytes]
	if m.Type == wire.Signaling {
		b = b[:44]
	}
	b = append(b, m.TLVs...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return b
}

func identity(p wire.PortID) protocol.PortIdentity {
	return protocol.PortIdentity{ClockIdentity: protocol.ClockIdentity(p.Clock), PortNumber: p.Port}
}

func timestamp(t wire.PTPTime) protocol.Timestamp {
	var s [8]byte
	binary.BigEndian.PutUint64(s[:], t.Seconds)
	return protocol.Timestamp{Seconds: protocol.PTPSeconds(s[2:]), Nanoseconds: t.Nanos}
}

func allTypes() []wire.PTPType {
	return []wire.PTPType{
		wire.Sync, wire.DelayReq, wire.PdelayReq, wire.PdelayResp, wire.FollowUp, wire.DelayResp,
		wire.PdelayRespFollowUp, wire.Announce, wire.Signaling, wire.Management,
	}
}

// somePTP returns a message of the type with all fields set that it has.
func somePTP(kind wire.PTPType) *wire.PTP {
	m := &wire.PTP{
		Type: kind, Minor: 1, SdoID: 0x123, Domain: 44, Flags: wire.FlagUnicast | wire.FlagTwoStep | wire.FlagPTPTimescale, Correction: -3<<15 - 1,
		Source: wire.PortID{Clock: 0x7cfe90fffef950b4, Port: 3}, Sequence: 65535, LogInterval: -7,
		Timestamp: wire.PTPTime{Seconds: 1<<48 - 1, Nanos: 999_999_999},
	}
	switch kind {
	case wire.PdelayResp, wire.DelayResp, wire.PdelayRespFollowUp:
		m.Requesting = wire.PortID{Clock: 0xa0369ffffe856e8a, Port: 1}
	case wire.Announce:
		m.Announcement = wire.Announcement{
			UTCOffset: -37 * time.Second, Grandmaster: 0xe8c57affff01313f, Class: 6, Accuracy: 0x21, Variance: 0xffff,
			Priority1: 128, Priority2: 127, StepsRemoved: 258, TimeSource: 0x20,
		}
	case wire.Signaling, wire.Management:
		m.Timestamp = wire.PTPTime{}
	default:
	}
	return m
}

func TestPTPIsDecodedAsItWasEncoded(t *testing.T) {
	for _, kind := range allTypes() {
		for name, c := range map[string]struct{ tlvs, after string }{
			"alone": {}, "before padding": {after: "\x00\x00\x00\x00"}, "with an unknown TLV": {"\xff\xf0\x00\x02ab", ""},
			"with a broken TLV": {"\x00\x08\xff\xff", "\x00\x00"}, "with a byte": {"\x00", "\x01"},
		} {
			want := somePTP(kind)
			want.TLVs = []byte(c.tlvs)
			b := append(encodePTP(t, want), c.after...)
			got, err := wire.DecodePTP(b)
			if err != nil {
				t.Errorf("%v %s: %v", kind, name, err)
			}
			if diff := cmp.Diff(*want, got); diff != "" {
				t.Errorf("%v %s: %s", kind, name, diff)
			}
		}
	}
}

// Ten bytes of a Pdelay_Req and the targets of two others lie where other types have
// an identity and a stamp.
func TestPTPLeavesReservedBytes(t *testing.T) {
	for _, kind := range []wire.PTPType{wire.PdelayReq, wire.Signaling, wire.Management} {
		b := encodePTP(t, somePTP(kind))
		for i := 44; i < len(b); i++ {
			b[i] = 0xff
		}
		if kind != wire.PdelayReq {
			copy(b[34:44], "0123456789")
		}
		m, err := wire.DecodePTP(b)
		if diff := cmp.Diff(somePTP(kind), &m, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v: %v %s", kind, err, diff)
		}
	}
}

func TestPTPRefuses(t *testing.T) {
	sync := func(change func(b []byte) []byte) []byte { return change(encodePTP(t, somePTP(wire.Sync))) }
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":          {nil, "ptp: 0 bytes are too short for a message (44)"},
		"cut off":          {sync(func(b []byte) []byte { return b[:43] }), "ptp: 43 bytes are too short for a message (44)"},
		"cut off in a TLV": {sync(func(b []byte) []byte { b[3] = 60; return append(b, make([]byte, 15)...) }), "ptp: Sync is cut off: 59 bytes of 60"},
		"too short itself": {sync(func(b []byte) []byte { b[3] = 43; return b }), "ptp: Sync of 43 bytes: want 44"},
		"no body":          {sync(func(b []byte) []byte { b[0] = 0xb; return b }), "ptp: Announce of 44 bytes: want 64"},
		"version 1":        {sync(func(b []byte) []byte { b[1] = 1; return b }), "ptp: version 1: want 2"},
		"reserved":         {sync(func(b []byte) []byte { b[0] = 0x14; return b }), "ptp: message of reserved type 4"},
	} {
		if _, err := wire.DecodePTP(c.b); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestPTPTime(t *testing.T) {
	for name, c := range map[string]struct {
		t    wire.PTPTime
		want int64
		ok   bool
	}{
		"none":                       {wire.PTPTime{}, 0, false},
		"the first":                  {wire.PTPTime{Nanos: 1}, 1, true},
		"the last ns of a second":    {wire.PTPTime{Seconds: 5, Nanos: 999_999_999}, 5_999_999_999, true},
		"a second of ns":             {wire.PTPTime{Seconds: 5, Nanos: 1_000_000_000}, 0, false},
		"all bits":                   {wire.PTPTime{Seconds: 1<<48 - 1, Nanos: math.MaxUint32}, 0, false},
		"the last second of 64 bits": {wire.PTPTime{Seconds: 9_223_372_035, Nanos: 999_999_999}, 9_223_372_035_999_999_999, true},
		"too late":                   {wire.PTPTime{Seconds: 9_223_372_037}, 0, false},
	} {
		if got, ok := c.t.UnixNanos(); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

// 2.5 ns is 0x28000: IEEE 1588-2019 §5.3.2.
func TestCorrection(t *testing.T) {
	for name, c := range map[string]struct {
		c    wire.Correction
		want time.Duration
		ok   bool
	}{
		"none":        {0, 0, true},
		"2.5 ns":      {0x28000, 3, true},
		"-2.5 ns":     {-0x28000, -3, true},
		"2.4999 ns":   {0x27fff, 2, true},
		"-2.4999 ns":  {-0x27fff, -2, true},
		"the largest": {math.MaxInt64 - 1, 140_737_488_355_328, true},
		"too big":     {math.MaxInt64, 0, false},
		"the lowest":  {math.MinInt64, -140_737_488_355_328, true},
	} {
		if got, ok := c.c.Duration(); got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
}

func TestPTPNames(t *testing.T) {
	if got := (wire.PortID{Clock: 0x7cfe90fffef950b4, Port: 1}).String(); got != "7cfe90.fffe.f950b4-1" {
		t.Error(got)
	}
	for _, kind := range allTypes() {
		if name := kind.String(); strings.Contains(name, "reserved") {
			t.Error(name)
		}
	}
	if !somePTP(wire.Sync).Flags.Has(wire.FlagTwoStep|wire.FlagUnicast) || somePTP(wire.Sync).Flags.Has(wire.FlagTwoStep|wire.FlagLeap59) {
		t.Error("flags")
	}
}

// FuzzPTP holds the decoder to this: what it reads, written and read again, is the
// same; the library's own decoder, where it takes the message at all, agrees.
func FuzzPTP(f *testing.F) {
	for _, kind := range allTypes() {
		f.Add(encodePTP(f, somePTP(kind)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wire.DecodePTP(b)
		if err != nil {
			return
		}
		again, err := wire.DecodePTP(append(encodePTP(t, &m), 0))
		if diff := cmp.Diff(m, again); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
		if m.Type == wire.Management { // the library's may take megabytes for it
			return
		}
		if p, err := protocol.DecodePacket(b); err == nil && string(encodePTP(t, &m))[4:34] != string(headerOf(t, p))[4:34] {
			t.Fatalf("%+v\nis to the library %+v", m, p)
		}
	})
}

// headerOf returns the library's encoding of a message, without the fields that are
// reserved, which we do not keep.
func headerOf(t *testing.T, p protocol.Packet) []byte {
	t.Helper()
	b, err := protocol.Bytes(p)
	if err != nil {
		t.Skip(err) // some TLVs it reads it cannot write
	}
	copy(b[16:20], "\x00\x00\x00\x00")
	b[32] = 0
	return b
}

func BenchmarkDecodePTP(b *testing.B) {
	for _, kind := range []wire.PTPType{wire.Sync, wire.PdelayResp, wire.Announce} {
		b.Run(kind.String(), func(b *testing.B) {
			packet := append(encodePTP(b, somePTP(kind)), 0, 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wire.DecodePTP(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
