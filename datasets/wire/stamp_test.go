package wire_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

func someTest() wire.STAMPTest {
	return wire.STAMPTest{Seq: 0x01020304, Time: 0x1112131415161718, Error: 0x8a21, SSID: 0x3132}
}

func someReflected() wire.STAMPReflected {
	return wire.STAMPReflected{
		STAMPTest: someTest(), Received: 0x4142434445464748,
		Sender: wire.STAMPTest{Seq: 0x51525354, Time: 0x6162636465666768, Error: 0x7172}, TTL: 0x81,
	}
}

func zeros(n int) string { return strings.Repeat("00", n) }

const testKey = "sixteen bytes of"

// The bytes were laid out by hand from the figures of RFC 8762 and RFC 8972: sender, figures
// 2 and 4; reflector, 5 and 6; SSID, RFC 8972 figures 1 to 4. In the sealed ones the HMAC
// stands as zeros.
func TestSTAMPLayout(t *testing.T) {
	plain, sealed := wire.NewSTAMP(nil), wire.NewSTAMP([]byte(testKey))
	test, reflected := someTest(), someReflected()
	for _, c := range []struct {
		name string
		mode *wire.STAMP
		put  func(s *wire.STAMP, b []byte)
		want string
	}{
		{
			"sender", plain, func(s *wire.STAMP, b []byte) { s.PutTest(b, &test) },
			"01020304" + "1112131415161718" + "8a21" + "3132" + zeros(28),
		},
		{
			"reflector", plain, func(s *wire.STAMP, b []byte) { s.PutReflected(b, &reflected) },
			"01020304" + "1112131415161718" + "8a21" + "3132" + "4142434445464748" +
				"51525354" + "6162636465666768" + "7172" + zeros(2) + "81" + zeros(3),
		},
		{
			"sealed sender", sealed, func(s *wire.STAMP, b []byte) { s.PutTest(b, &test) },
			"01020304" + zeros(12) + "1112131415161718" + "8a21" + "3132" + zeros(68) + zeros(16),
		},
		{
			"sealed reflector", sealed, func(s *wire.STAMP, b []byte) { s.PutReflected(b, &reflected) },
			"01020304" + zeros(12) + "1112131415161718" + "8a21" + "3132" + zeros(4) + "4142434445464748" + zeros(8) +
				"51525354" + zeros(12) + "6162636465666768" + "7172" + zeros(6) + "81" + zeros(15) + zeros(16),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := bytes.Repeat([]byte{0xff}, c.mode.Size())
			c.put(c.mode, b)
			if got := hex.EncodeToString(b); got != c.want {
				t.Fatalf("got  %s\nwant %s", got, c.want)
			}
			c.mode.Seal(b, test.Time, test.Error)
			gotTest, err := c.mode.Test(b)
			gotReflected, errReflected := c.mode.Reflected(b)
			if err != nil || errReflected != nil {
				t.Fatal(err, errReflected)
			}
			if diff := cmp.Diff(test, gotTest); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(reflected, gotReflected); diff != "" && strings.HasSuffix(c.name, "reflector") {
				t.Error(diff)
			}
		})
	}
}

// RFC 8762 §4.4: HMAC-SHA-256 over the first 96 octets, of which 16 are kept.
func TestSTAMPSeal(t *testing.T) {
	s := wire.NewSTAMP([]byte(testKey))
	b := make([]byte, s.Size())
	p := someReflected()
	s.PutReflected(b, &p)
	s.Seal(b, 5, 0x4001)
	mac := hmac.New(sha256.New, []byte(testKey))
	mac.Write(b[:96])
	if want := mac.Sum(nil)[:16]; !bytes.Equal(b[96:], want) {
		t.Errorf("got %x, want %x", b[96:], want)
	}
	if got, err := s.Reflected(b); err != nil || got.Time != 5 || got.Error != 0x4001 {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range b {
		b[i] ^= 1
		if _, err := s.Test(b); !errors.Is(err, wire.ErrSTAMPKey) {
			t.Errorf("byte %d is another: %v", i, err)
		}
		b[i] ^= 1
	}
	if _, err := wire.NewSTAMP([]byte("another")).Test(b); !errors.Is(err, wire.ErrSTAMPKey) {
		t.Errorf("another key: %v", err)
	}
}

// RFC 8762 §4.6: the shorter packets of TWAMP Light (RFC 5357 §4.1.2: 14 octets, §4.2.1: 41).
func TestSTAMPShort(t *testing.T) {
	s := wire.NewSTAMP(nil)
	b := make([]byte, 44)
	p := someReflected()
	s.PutReflected(b, &p)
	if _, err := s.Test(b[:13]); err == nil {
		t.Error("13 bytes are a test packet")
	}
	if got, err := s.Test(b[:14]); err != nil || got.Seq != p.Seq || got.Error != p.Error || got.SSID != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Reflected(b[:40]); err == nil {
		t.Error("40 bytes are a reflected packet")
	}
	if got, err := s.Reflected(b[:41]); err != nil || got != p {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := wire.NewSTAMP([]byte(testKey)).Test(make([]byte, 111)); err == nil || errors.Is(err, wire.ErrSTAMPKey) {
		t.Errorf("111 bytes, sealed: %v", err)
	}
}

func TestSTAMPAlreadyReflected(t *testing.T) {
	for _, s := range []*wire.STAMP{wire.NewSTAMP(nil), wire.NewSTAMP([]byte(testKey))} {
		b := make([]byte, s.Size())
		p := wire.STAMPReflected{STAMPTest: wire.STAMPTest{Time: 7<<32 | 5}}
		for received, want := range map[wire.STAMPTime]bool{0: false, 7<<32 | 1: true, 4000 << 32: false, 1<<64 - 1: true, 3000 << 32: true} {
			p.Received = received
			if s.PutReflected(b, &p); s.AlreadyReflected(b) != want {
				t.Errorf("arrived at %#x, left at %#x: %v", uint64(received), uint64(p.Time), !want)
			}
		}
		if s.AlreadyReflected(b[:14]) {
			t.Error("a packet of TWAMP Light is")
		}
	}
}

// RFC 4656 §4.1.2: multiplier · 2⁻³² · 2^scale seconds, S and (RFC 8186 §2.3) Z before it.
func TestErrorEstimate(t *testing.T) {
	for _, c := range []struct {
		off       time.Duration
		sync, ptp bool
		want      wire.ErrorEstimate
		says      time.Duration
	}{
		{0, false, false, 0x0001, 1},                          // 2⁻³² s = 0.23 ns
		{time.Nanosecond, true, false, 0x8005, 2},             // 4.29 units
		{time.Second, true, false, 0x8000 | 25<<8 | 128, 1e9}, // 128·2²⁵ = 2³²
		{16 * time.Second, false, true, 0x4000 | 29<<8 | 128, 16e9},
		{255*time.Second + 1, false, false, 33<<8 | 128, 256e9}, // no 8 bits hold 255.000000001
		{-time.Second, false, false, 0x0001, 1},
		{math.MaxInt64, false, false, 56<<8 | 128, 1 << 31 * time.Second}, // 2⁶³ units, 68 years, are the most
	} {
		got := wire.ErrorEstimateOf(c.off, c.sync, c.ptp)
		says, ok := got.Duration()
		if got != c.want || says != c.says || !ok || got.Synchronised() != c.sync || got.PTP() != c.ptp {
			t.Errorf("%v: got %#04x, which says %v; want %#04x, %v", c.off, uint16(got), says, uint16(c.want), c.says)
		}
	}
	if _, ok := wire.ErrorEstimate(0x8a00).Duration(); ok {
		t.Error("a multiplier of 0 is an estimate")
	}
	if got, ok := wire.ErrorEstimate(63<<8 | 255).Duration(); got != math.MaxInt64 || !ok {
		t.Errorf("the largest is %v", got)
	}
}

func TestSTAMPTime(t *testing.T) {
	const ntp, ptp = wire.ErrorEstimate(1), wire.ErrorEstimate(0x4001)
	for _, c := range []struct {
		at   string
		e    wire.ErrorEstimate
		want wire.STAMPTime
	}{
		{"1970-01-01T00:00:00.5Z", ntp, 2_208_988_800<<32 | 1<<31}, // RFC 868: the Unix epoch
		{"2036-02-07T06:28:16.25Z", ntp, 1 << 30},                  // RFC 5905 §6: era 1 begins
		{"2026-12-01T00:00:00.000000007Z", ptp, 1_796_083_200<<32 | 7},
		{"2106-02-07T06:28:16.000000001Z", ptp, 1}, // 2³² s
	} {
		at := utc(t, c.at)
		if got := c.e.Time(at); got != c.want {
			t.Errorf("%s: got %#x, want %#x", c.at, uint64(got), uint64(c.want))
		}
		for _, near := range []int64{at, at - 60*365*86400e9, at + 60*365*86400e9} {
			if got, ok := c.e.UnixNanos(c.want, near); !ok || got != at {
				t.Errorf("%s: %#x is %d near %d, want %d", c.at, uint64(c.want), got, near, at)
			}
		}
	}
	for _, none := range []struct {
		e  wire.ErrorEstimate
		at wire.STAMPTime
	}{{ntp, 0}, {ptp, 0}, {ptp, 1<<32 | 1_000_000_000}} {
		if got, ok := none.e.UnixNanos(none.at, 0); ok {
			t.Errorf("%#x is %d", uint64(none.at), got)
		}
	}
}

func tlv(flags, kind int, value ...byte) []byte {
	return join(flags, kind, be16(len(value)), value)
}

// RFC 8972 §4: the flags U 0x80, M 0x40 and I 0x20; types 1 Extra Padding, 8 HMAC. All
// else comes back as it came.
func TestSTAMPMarkTLVs(t *testing.T) {
	value := []byte{9, 8, 7, 6, 5}
	cut := tlv(0x80, 4, value...)[:7]
	for _, c := range []struct {
		name    string
		in, out []byte
	}{
		{"none", nil, nil},
		{"padding", tlv(0x80, 1, value...), tlv(0, 1, value...)},
		{"unknown", join(tlv(0, 2), tlv(0xff, 200, value...)), join(tlv(0x80, 2), tlv(0x80, 200, value...))},
		{"cut off", join(tlv(0x80, 1), cut), join(tlv(0, 1), 0x40, cut[1:])},
		{"less than a header", join(tlv(0x80, 1), 0x80, 1, 0), join(tlv(0, 1), 0x80, 1, 0)},
		{"TWAMP Light's zeros", make([]byte, 27), make([]byte, 27)},
		{"an HMAC without a key", tlv(0x80, 8, make([]byte, 16)...), tlv(0x80, 8, make([]byte, 16)...)},
	} {
		s := wire.NewSTAMP(nil)
		b := append(make([]byte, s.Size()), c.in...)
		if at := s.MarkTLVs(b); at != 0 || !bytes.Equal(b[s.Size():], c.out) {
			t.Errorf("%s: got %x, want %x", c.name, b[s.Size():], c.out)
		}
	}
}

// RFC 8972 §4.8: the HMAC TLV covers the sequence number and the TLVs before it. Only
// padding follows it, and only a single TLV of padding needs none.
func TestSTAMPSealTLVs(t *testing.T) {
	seq := []byte{1, 2, 3, 4}
	sign := func(seq []byte, before ...[]byte) []byte {
		mac := hmac.New(sha256.New, []byte(testKey))
		mac.Write(seq)
		mac.Write(bytes.Join(before, nil))
		return mac.Sum(nil)[:16]
	}
	access, padding := tlv(0x80, 6, 0, 1, 0, 0), tlv(0x80, 1, 5, 5)
	good := sign(seq, access)
	bad := append([]byte{^good[0]}, good[1:]...)
	marked := tlv(0x80, 6, 0, 1, 0, 0)
	for _, c := range []struct {
		name    string
		in, out []byte
	}{
		{
			"holds", join(access, tlv(0x80, 8, good...), padding),
			join(marked, tlv(0, 8, sign([]byte{0, 0, 0, 9}, marked)...), tlv(0, 1, 5, 5)),
		},
		{"does not hold", join(access, tlv(0x80, 8, bad...), padding), join(tlv(0x20, 6, 0, 1, 0, 0), tlv(0x20, 8, bad...), tlv(0x20, 1, 5, 5))},
		{"is missing", access, tlv(0x20, 6, 0, 1, 0, 0)},
		{"one of padding", padding, tlv(0, 1, 5, 5)},
		{"two of padding", join(padding, padding), join(tlv(0x20, 1, 5, 5), tlv(0x20, 1, 5, 5))},
		{"not the last", join(tlv(0x80, 8, sign(seq)...), access), join(tlv(0x20, 8, sign(seq)...), tlv(0x20, 6, 0, 1, 0, 0))},
		{"too short", tlv(0x80, 8, good[:12]...), tlv(0x20, 8, good[:12]...)},
	} {
		s := wire.NewSTAMP([]byte(testKey))
		b := append(make([]byte, s.Size()), c.in...)
		copy(b, seq)
		at := s.MarkTLVs(b)
		copy(b, []byte{0, 0, 0, 9}) // the reflector's own number
		if c.name == "holds" {
			s.SealTLVs(b, at)
		}
		if !bytes.Equal(b[s.Size():], c.out) {
			t.Errorf("%s: got %x, want %x", c.name, b[s.Size():], c.out)
		}
	}
}

func TestSTAMPPadding(t *testing.T) {
	s := wire.NewSTAMP(nil)
	b := bytes.Repeat([]byte{7}, 50)
	if s.PutPadding(b); !bytes.Equal(b[44:], []byte{0x80, 1, 0, 2, 7, 7}) {
		t.Errorf("got %x", b[44:])
	}
	s.PutPadding(b[:44])
}

// plainReflected is figure 5 of RFC 8762 as a struct without gaps, for encoding/binary.
type plainReflected struct {
	Seq         uint32
	Time        wire.STAMPTime
	Error       wire.ErrorEstimate
	SSID        uint16
	Received    wire.STAMPTime
	SenderSeq   uint32
	SenderTime  wire.STAMPTime
	SenderError wire.ErrorEstimate
	_           [2]byte
	TTL         uint8
	_           [3]byte
}

// FuzzSTAMP holds the decoder to a slow twin; what is decoded and written is the same
// again; marking TLVs changes flags alone, a TLV once marked stays so, and one of another
// key, or changed, is not believed.
func FuzzSTAMP(f *testing.F) {
	b := make([]byte, 44)
	p := someReflected()
	wire.NewSTAMP(nil).PutReflected(b, &p)
	f.Add(b)
	f.Add(join(b, tlv(0x80, 1, 1, 2, 3), tlv(0x80, 9, 4), tlv(0x80, 8, make([]byte, 16)...)))
	f.Add(join(b, make([]byte, 68), tlv(0x80, 1, 1, 2, 3), tlv(0x80, 4, 4)[:4]))
	f.Fuzz(func(t *testing.T, b []byte) {
		plain, sealed := wire.NewSTAMP(nil), wire.NewSTAMP([]byte(testKey))
		got, err := plain.Reflected(b)
		if (err == nil) != (len(b) >= 41) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if _, err := plain.Test(b); (err == nil) != (len(b) >= 14) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if _, err := sealed.Test(b); err == nil {
			t.Fatal("a seal was guessed")
		}
		if len(b) < 44 {
			return
		}
		var twin plainReflected
		if err := binary.Read(bytes.NewReader(b), binary.BigEndian, &twin); err != nil {
			t.Fatal(err)
		}
		want := wire.STAMPReflected{
			STAMPTest: wire.STAMPTest{Seq: twin.Seq, Time: twin.Time, Error: twin.Error, SSID: twin.SSID}, Received: twin.Received,
			Sender: wire.STAMPTest{Seq: twin.SenderSeq, Time: twin.SenderTime, Error: twin.SenderError}, TTL: twin.TTL,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		again := bytes.Clone(b)
		plain.PutReflected(again, &got)
		if second, _ := plain.Reflected(again); second != got || !bytes.Equal(again[44:], b[44:]) {
			t.Fatalf("%+v, written and read, is %+v", got, second)
		}
		checkMarks(t, plain, b)
		if len(b) >= sealed.Size() {
			checkMarks(t, sealed, b)
			checkSeal(t, sealed, bytes.Clone(b))
		}
	})
}

func checkMarks(t *testing.T, s *wire.STAMP, b []byte) {
	t.Helper()
	marked := bytes.Clone(b)
	s.MarkTLVs(marked)
	flags := map[int]bool{}
	for at := s.Size(); at+4 <= len(b) && b[at+1] != 0; at += 4 + int(binary.BigEndian.Uint16(b[at+2:])) {
		flags[at] = true
	}
	for i := range b {
		switch {
		case !flags[i] && marked[i] != b[i]:
			t.Fatalf("byte %d, %#x, comes back as %#x", i, b[i], marked[i])
		case flags[i] && marked[i]&0x1f != 0:
			t.Fatalf("reserved flags are set: %#x", marked[i])
		}
	}
	twice := bytes.Clone(marked)
	if s.MarkTLVs(twice); s.Size() == 44 && !bytes.Equal(twice, marked) {
		t.Fatalf("marked %x, again %x", marked, twice)
	}
}

func checkSeal(t *testing.T, s *wire.STAMP, b []byte) {
	t.Helper()
	s.Seal(b, 7, 9)
	if p, err := s.Test(b); err != nil || p.Time != 7 || p.Error != 9 {
		t.Fatalf("sealed: %+v, %v", p, err)
	}
	b[len(b)%112] ^= 1
	if _, err := s.Test(b); err == nil {
		t.Fatal("a change is not seen")
	}
}
