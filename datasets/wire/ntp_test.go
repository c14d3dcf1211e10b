package wire_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

func utc(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixNano()
}

// The dates are those of RFC 5905 figure 4, and the era's turn after it.
func TestNTPTimeHasAnEra(t *testing.T) {
	for _, c := range []struct {
		name string
		t    wire.NTPTime
		near string
		want string
	}{
		{"Unix epoch", 2_208_988_800 << 32, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{"first day UTC", 2_272_060_800 << 32, "2026-09-01T00:00:00Z", "1972-01-01T00:00:00Z"},
		{"last day of the 20th century", 3_155_587_200 << 32, "1999-12-31T00:00:00Z", "1999-12-31T00:00:00Z"},
		{"last second of era 0", 0xffffffff << 32, "2026-09-01T00:00:00Z", "2036-02-07T06:28:15Z"},
		{"first second of era 1", 1, "2026-09-01T00:00:00Z", "2036-02-07T06:28:16Z"},
		{"era 0 is left behind", 1 << 32, "2040-01-01T00:00:00Z", "2036-02-07T06:28:17Z"},
		{"last second of era 0, seen from era 1", 0xffffffff << 32, "2040-01-01T00:00:00Z", "2036-02-07T06:28:15Z"},
		{"first day of the Republic", 63_104 << 32, "2040-01-01T00:00:00Z", "2036-02-08T00:00:00Z"},
		{"1900", 1, "1920-01-01T00:00:00Z", "1900-01-01T00:00:00Z"},
		{"era 2", 1, "2170-01-01T00:00:00Z", "2172-03-15T12:56:32Z"},
		{"half a second", 2_208_988_800<<32 | 1<<31, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.5Z"},
		{"the last fraction rounds up", 2_208_988_800<<32 | 0xffffffff, "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"},
	} {
		if got, want := c.t.UnixNanos(utc(t, c.near)), utc(t, c.want); got != want {
			t.Errorf("%s: %v, want %v", c.name, time.Unix(0, got).UTC(), c.want)
		}
	}
}

func TestNTPTimeKeepsNanoseconds(t *testing.T) {
	year := int64(365 * 24 * time.Hour)
	for _, ns := range []int64{
		0, 1, -1, 999_999_999, 1_000_000_000, -1_000_000_000, -1_000_000_001, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64,
		math.MinInt64 + 1, utc(t, "2036-02-07T06:28:15.999999999Z"), utc(t, "2036-02-07T06:28:16Z"), utc(t, "2036-02-07T06:28:16.000000001Z"),
	} {
		at := wire.NTPTimeOf(ns)
		if at.IsZero() {
			t.Errorf("%d: is no time", ns)
		}
		if got := at.UnixNanos(ns); got != ns {
			t.Errorf("%d: reads back as %d", ns, got)
		}
		for _, off := range []int64{year, -year, 60 * year, -60 * year} {
			if near := ns + off; (near > ns) == (off > 0) { // no overflow
				if got := at.UnixNanos(near); got != ns {
					t.Errorf("%d: from %d it reads as %d", ns, near, got)
				}
			}
		}
	}
}

func FuzzNTPTime(f *testing.F) {
	f.Add(int64(0), int64(0))
	f.Add(int64(math.MaxInt64), int64(math.MinInt64))
	f.Add(int64(2_085_978_496_000_000_000), int64(-1))
	f.Fuzz(func(t *testing.T, ns, near int64) {
		if got := wire.NTPTimeOf(ns).UnixNanos(ns); got != ns {
			t.Fatalf("%d reads back as %d", ns, got)
		}
		// The same place in an era, and never far from near unless 64 bits end there.
		at := wire.NTPTimeOf(ns)
		got := at.UnixNanos(near)
		if wire.NTPTimeOf(got) != at {
			t.Fatalf("%d near %d: %d is another time of the era", ns, near, got)
		}
		far := float64(got) - float64(near)
		if era := float64(1<<32) * 1e9; math.Abs(far) > era/2+2e9 && math.Abs(float64(near))+era/2 < math.MaxInt64 {
			t.Fatalf("%d near %d: %d is not the nearest", ns, near, got)
		}
	})
}

func request() wire.NTP {
	return wire.NTP{
		Version: 4, Mode: wire.ModeClient, Poll: 6, Precision: -20, RootDelay: 15259 * time.Nanosecond, RootDispersion: time.Second,
		ReferenceID: [4]byte{192, 0, 2, 1}, Stratum: 2, Transmit: wire.NTPTimeOf(1_789_000_000_123_456_789),
	}
}

func TestNTPIsEncodedAsItIsDecoded(t *testing.T) {
	want := request()
	b := want.AppendTo([]byte("x"))[1:]
	got, err := wire.DecodeNTP(b)
	if err != nil {
		t.Fatal(err)
	}
	got.Fields, got.MAC, got.Rest = nil, nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(b) != wire.NTPHeaderSize || b[0] != 4<<3|3 {
		t.Errorf("% x", b)
	}
}

func TestNTPRefusesWhatHasNoStamps(t *testing.T) {
	packet := func(settings byte) []byte { return append([]byte{settings}, make([]byte, 47)...) }
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"cut off":   {packet(0x23)[:47], "ntp: 47 bytes are too short for a packet (48)"},
		"empty":     {nil, "ntp: 0 bytes are too short for a packet (48)"},
		"version 0": {packet(3), "ntp: version 0: want 1 to 4"},
		"version 5": {packet(5<<3 | 3), "ntp: version 5: want 1 to 4"},
		"control":   {packet(4<<3 | 6), "ntp: mode 6 is control traffic without time stamps"},
		"private":   {packet(2<<3 | 7), "ntp: mode 7 is control traffic without time stamps"},
	} {
		if _, err := wire.DecodeNTP(c.b); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func TestRefid(t *testing.T) {
	for _, c := range []struct {
		stratum int
		id      string
		want    string
	}{
		{0, "RATE", "RATE"},
		{1, "PPS\x00", "PPS"},
		{1, "\x00G\x7fS", "GS"},
		{2, "\xc0\x00\x02\x01", "192.0.2.1"},
		{16, "INIT", "73.78.73.84"},
	} {
		n := wire.NTP{Stratum: c.stratum, ReferenceID: [4]byte([]byte(c.id))}
		if got := n.Refid(); got != c.want {
			t.Errorf("stratum %d, %q: %q, want %q", c.stratum, c.id, got, c.want)
		}
	}
}

func field(kind uint16, size int) []byte {
	b := make([]byte, size)
	b[0], b[1], b[2], b[3] = byte(kind>>8), byte(kind), byte(size>>8), byte(size)
	return b
}

// RFC 7822 §3 for version 4, RFC 1305 appendix C for version 3.
func TestNTPTrailer(t *testing.T) {
	key := func(size int) []byte { return append([]byte{0, 0, 0, 20}, make([]byte, size-4)...) }
	for _, c := range []struct {
		name    string
		version int
		trailer []byte
		kinds   []uint16
		mac     int
		rest    int
	}{
		{"nothing", 4, nil, nil, 0, 0},
		{"MD5", 4, key(20), nil, 20, 0},
		{"SHA-1", 4, key(24), nil, 24, 0},
		{"crypto-NAK", 4, make([]byte, 4), nil, 4, 0},
		{"a field", 4, field(0x0104, 28), []uint16{0x0104}, 0, 0},
		{"two fields and a MAC", 4, bytes.Join([][]byte{field(0x0104, 36), field(0xf323, 16), key(20)}, nil), []uint16{0x0104, 0xf323}, 20, 0},
		{"a field that ends too late", 4, field(0x0104, 28)[:25], nil, 0, 25},
		{"a field without length", 4, append(field(0x0104, 28), 1, 4, 0, 0, 9, 9, 9, 9), []uint16{0x0104}, 0, 8},
		{"a length of no four bytes", 4, []byte{1, 4, 0, 6, 0, 0}, nil, 0, 6},
		{"one byte", 4, []byte{1}, nil, 0, 1},
		{"version 3, Windows", 3, key(72), nil, 72, 0},
		{"version 3, DES", 3, key(12), nil, 12, 0},
		{"version 3, a field is none", 3, field(0x0104, 28), nil, 28, 0},
		{"version 3, too short", 3, key(8), nil, 0, 8},
	} {
		n := request()
		n.Version = c.version
		b := append(n.AppendTo(nil), c.trailer...)
		n, err := wire.DecodeNTP(b)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []uint16
		for kind, body := range n.Extensions() {
			kinds = append(kinds, kind)
			if len(body)%4 != 0 {
				t.Errorf("%s: a body of %d bytes", c.name, len(body))
			}
		}
		if diff := cmp.Diff(c.kinds, kinds); diff != "" || len(n.MAC) != c.mac || len(n.Rest) != c.rest {
			t.Errorf("%s: fields %x, MAC of %d bytes, rest of %d", c.name, kinds, len(n.MAC), len(n.Rest))
		}
	}
}

// FuzzNTP holds the decoder to this: what it accepts, it writes again byte for byte,
// and its parts are the packet's.
func FuzzNTP(f *testing.F) {
	f.Add(request().AppendTo(nil))
	f.Add(append(request().AppendTo(nil), field(0x0104, 28)...))
	f.Add(append(request().AppendTo(nil), strings.Repeat("\x00\x00\x00\x14", 6)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := wire.DecodeNTP(b)
		if err != nil {
			return
		}
		if again := n.AppendTo(nil); !bytes.Equal(again, b) {
			t.Fatalf("% x\nis written as\n% x", b, again)
		}
		size := 0
		for _, body := range n.Extensions() {
			size += 4 + len(body)
		}
		if size != len(n.Fields) || size+len(n.MAC)+len(n.Rest)+wire.NTPHeaderSize != len(b) {
			t.Fatalf("fields of %d bytes, MAC of %d, rest of %d in %d", size, len(n.MAC), len(n.Rest), len(b))
		}
	})
}

func BenchmarkDecodeNTP(b *testing.B) {
	packet := request().AppendTo(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.DecodeNTP(packet); err != nil {
			b.Fatal(err)
		}
	}
}
