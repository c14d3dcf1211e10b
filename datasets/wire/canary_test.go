package wire_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	ntp "github.com/facebook/time/ntp/protocol"
	"github.com/facebook/time/ptp/protocol"

	"github.com/tickmark/tickmark/datasets/wire"
)

// These tests hold facebook/time to its defects. One that fails says that a new
// version behaves differently: then the guard it stands for is to be looked at, and
// perhaps taken out.

// Guard: NTPTime.UnixNanos has an era.
func TestCanaryLibraryHasNoEra(t *testing.T) {
	if got := ntp.Unix(0, 0).UTC().Year(); got != 1900 {
		t.Errorf("the library's NTP second 0 is in %d", got)
	}
	if got := time.Unix(0, wire.NTPTime(1).UnixNanos(utc(t, "2036-02-07T06:28:16Z"))).UTC().Year(); got != 2036 {
		t.Errorf("ours is in %d", got)
	}
}

// Guard: DecodeNTP gives the library the header alone.
func TestCanaryABrokenFieldCostsTheNTPPacket(t *testing.T) {
	b := append(request().AppendTo(nil), field(0x0104, 28)[:27]...)
	var p ntp.Packet
	if p.UnmarshalBinary(b) == nil {
		t.Error("the library takes a packet with a broken extension field")
	}
	if n, err := wire.DecodeNTP(b); err != nil || len(n.Rest) != 27 {
		t.Errorf("we do not: %v", err)
	}
}

// Guard: splitTrailer takes the length of a MAC for a MAC first (RFC 7822 §3). A key
// id that ends like a length makes an extension field of it for the library.
func TestCanaryAMACIsTakenForAField(t *testing.T) {
	mac := append([]byte{0, 1, 0, 20}, make([]byte, 16)...)
	b := append(request().AppendTo(nil), mac...)
	var p ntp.Packet
	if err := p.UnmarshalBinary(b); err != nil || len(p.MAC) != 0 || len(p.ExtensionFields) != 1 {
		t.Errorf("the library reads a MAC of %d bytes and %d fields, %v", len(p.MAC), len(p.ExtensionFields), err)
	}
	if n, _ := wire.DecodeNTP(b); !bytes.Equal(n.MAC, mac) {
		t.Errorf("we read a MAC of %d bytes", len(n.MAC))
	}
}

// Guard: decodePTP gives the library no TLVs.
func TestCanaryAnUnknownTLVCostsThePTPMessage(t *testing.T) {
	for _, kind := range []wire.PTPType{wire.Sync, wire.Announce} {
		m := somePTP(kind)
		m.TLVs = []byte{0, 3, 0, 6, 0, 0x80, 0xc2, 0, 0, 1} // ORGANIZATION_EXTENSION
		b := encodePTP(t, m)
		if _, err := protocol.DecodePacket(b); err == nil {
			t.Errorf("%v: the library takes a TLV it does not know", kind)
		}
		if _, err := wire.DecodePTP(b); err != nil {
			t.Errorf("%v: we do not: %v", kind, err)
		}
	}
}

// Guard: as above. Of a path of n clocks the library reads n−1, or n+1 if bytes follow.
func TestCanaryPathTraceIsMiscounted(t *testing.T) {
	m := somePTP(wire.Announce)
	m.TLVs = append([]byte{0, 8, 0, 8}, 1, 2, 3, 4, 5, 6, 7, 8)
	for after, want := range map[int]int{0: 0, 12: 2} {
		p, err := protocol.DecodePacket(append(encodePTP(t, m), make([]byte, after)...))
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.(*protocol.Announce).TLVs[0].(*protocol.PathTraceTLV).PathSequence); got != want {
			t.Errorf("a path of one clock, with %d bytes behind it: %d clocks, no longer %d", after, got, want)
		}
	}
}

// Guard: DecodePTP checks version and length.
func TestCanaryPTPVersionAndLengthAreNotChecked(t *testing.T) {
	version := encodePTP(t, somePTP(wire.Sync))
	version[1] = 1
	short := encodePTP(t, somePTP(wire.DelayResp))
	binary.BigEndian.PutUint16(short[2:], 10)
	long := encodePTP(t, somePTP(wire.PdelayResp))
	binary.BigEndian.PutUint16(long[2:], 1000)
	for name, b := range map[string][]byte{"version 1": version, "length 10": short, "length 1000": long} {
		if _, err := protocol.DecodePacket(b); err != nil {
			t.Errorf("%s: the library refuses it: %v", name, err)
		}
		if _, err := wire.DecodePTP(b); err == nil {
			t.Errorf("%s: we take it", name)
		}
	}
}

// Guard: PTPTime.UnixNanos.
func TestCanaryTimestampsThatAreNone(t *testing.T) {
	late := wire.PTPTime{Seconds: 1 << 40}
	if got := timestamp(late).Time().UnixNano(); got == 0 || got/1e9 == 1<<40 {
		t.Errorf("the library's time beyond 2262 is %d ns, no longer a wrong one", got)
	}
	crowded := wire.PTPTime{Seconds: 5, Nanos: 4_000_000_000}
	if got := timestamp(crowded).Time().UnixNano(); got != 9_000_000_000 {
		t.Errorf("the library's 5 s and 4,000,000,000 ns are %d ns, no longer 9 s", got)
	}
	for _, at := range []wire.PTPTime{late, crowded} {
		if got, ok := at.UnixNanos(); ok {
			t.Errorf("ours are %d", got)
		}
	}
}

// Guard: Correction.Duration.
func TestCanaryCorrectionTooBigIsZero(t *testing.T) {
	const tooBig, almost2ns = 1<<63 - 1, 2<<16 - 1
	if got := protocol.Correction(tooBig).Duration(); got != 0 {
		t.Errorf("the library's is %v", got)
	}
	if _, ok := wire.Correction(tooBig).Duration(); ok {
		t.Error("ours is something")
	}
	if ours, _ := wire.Correction(almost2ns).Duration(); protocol.Correction(almost2ns).Duration() != 1 || ours != 2 {
		t.Errorf("1.99998 ns: the library cuts to %v, we round to %v", protocol.Correction(almost2ns).Duration(), ours)
	}
}

// Guard: of a management message only the header is read, and that by another parser.
// 66 bytes make the library allocate megabytes.
func TestCanaryManagementAmplifies(t *testing.T) {
	m := somePTP(wire.Management)
	m.TLVs = []byte{0, 1, 0, 10, 0xc0, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	b := encodePTP(t, m)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = protocol.DecodePacket(b)
	runtime.ReadMemStats(&after)
	if perRun := after.TotalAlloc - before.TotalAlloc; perRun < 1<<20 {
		t.Errorf("%d bytes of a management message take %d bytes of memory", len(b), perRun)
	}
}
