package serve

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/facebook/time/ntp/protocol"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
)

// The dates of RFC 5905, figure 4, with their era offsets.
func TestNTPTimeOfTheRFC(t *testing.T) {
	for date, want := range map[string]uint32{
		"1970-01-01": 2_208_988_800,
		"1972-01-01": 2_272_060_800,
		"1999-12-31": 3_155_587_200,
		"2036-02-08": 63_104, // the first full day of era 1
	} {
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			t.Fatal(err)
		}
		if got := ntpTime(day.UnixNano()); got != uint64(want)<<32 {
			t.Errorf("%s: %#x, want %#x and no fraction", date, got, uint64(want)<<32)
		}
	}
}

// Cut off to nanoseconds, as readers do it, a timestamp is what was put in; and
// it is never late by a unit.
func FuzzNTPTime(f *testing.F) {
	for _, ns := range []int64{0, -1, 1, 999_999_999, math.MaxInt64, math.MinInt64, 2_085_978_496_000_000_000} {
		f.Add(ns)
	}
	f.Fuzz(func(t *testing.T, ns int64) {
		ts := ntpTime(ns)
		// In whole numbers of any size: ns + ntpUnix·10⁹ = seconds·10⁹ + nanos.
		all := new(big.Int).Add(big.NewInt(ns), new(big.Int).Mul(big.NewInt(ntpUnix), big.NewInt(1e9)))
		seconds, nanos := new(big.Int).DivMod(all, big.NewInt(1e9), new(big.Int))
		era := new(big.Int).Mod(seconds, big.NewInt(1<<32))
		if uint64(uint32(ts>>32)) != era.Uint64() || int64(uint64(uint32(ts))*1e9>>32) != nanos.Int64() {
			t.Errorf("%d ns is %#x, want %v s %v ns", ns, ts, era, nanos)
		}
		// Of the same nanosecond, and never the one for the other.
		for name, stamp := range map[string]struct{ got, odd uint64 }{"T2": {receiveTime(ns), 1}, "T3": {transmitTime(ns), 0}} {
			if stamp.got>>32 != ts>>32 || int64(uint64(uint32(stamp.got))*1e9>>32) != nanos.Int64() || stamp.got&1 != stamp.odd {
				t.Errorf("%s of %d ns is %#x, want the nanosecond of %#x, and the last bit %d", name, ns, stamp.got, ts, stamp.odd)
			}
		}
	})
}

func TestNTPShort(t *testing.T) {
	for d, want := range map[time.Duration]uint32{ // 16.16 bits: d·2¹⁶/10⁹ rounded up
		0: 0, -time.Second: 0, 1: 1, 15_258: 1, 15_259: 2, time.Second: 1 << 16, 1500 * time.Millisecond: 3 << 15,
		65536 * time.Second: math.MaxUint32, math.MaxInt64: math.MaxUint32,
	} {
		if got := ntpShort(d); got != want {
			t.Errorf("%v: %d, want %d", d, got, want)
		}
	}
}

func newTestNTP(tb testing.TB) *ntpService {
	tb.Helper()
	s, err := newNTPService(1, time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func arrival(n int, wall int64) *stamp.Arrival {
	return &stamp.Arrival{N: n, Mono: time.Now(), Wall: datasets.NewStamp(wall, datasets.Local, datasets.Kernel)}
}

// Whatever the table has to give up, it never tells one reply's departure as another's,
// and what came last it knows.
func TestDeparturesAreNotMixedUp(t *testing.T) {
	var d departures
	known := 0
	const replies = 20_000 // for 4096 places
	for n := range uint64(replies) {
		d.remember(receiveTime(int64(n)*1000), n+1)
		if n%3 == 0 {
			continue
		}
		if transmit, ok := d.recall(receiveTime(int64(n) * 1000)); !ok || transmit != n+1 {
			t.Fatalf("reply %d: %d %v", n, transmit, ok)
		}
	}
	for n := range uint64(replies) {
		if transmit, ok := d.recall(receiveTime(int64(n) * 1000)); ok {
			if known++; transmit != n+1 || n%3 != 0 {
				t.Errorf("reply %d left at %d", n, transmit)
			}
		}
	}
	if known == 0 || known > len(d.place) {
		t.Errorf("%d departures in %d places", known, len(d.place))
	}
}

// What we write into the header by hand is what the library writes.
func TestReplyIsTheLibrarysPacket(t *testing.T) {
	s := newTestNTP(t)
	b := bytes.Repeat([]byte{0xee}, 60)
	b[0], b[2] = 0xc0|3<<3|3, 10
	binary.BigEndian.PutUint64(b[40:], 0x0102030405060708)
	const wall = 1_700_000_000_123_456_789
	n := s.answer(b, len(b), arrival(len(b), wall), &treatment{})
	s.seal(b[:n], &treatment{})
	received, reference := receiveTime(wall), ntpTime(wall-1_000_000_000)
	sent := binary.BigEndian.Uint64(b[40:])
	want := protocol.Packet{
		Settings: 3<<3 | 4, Stratum: 1, Poll: 10, Precision: int8(s.header[3]),
		RootDispersion: 1, // any clock that reads in less than 2⁻¹⁶ s
		ReferenceID:    'L'<<24 | 'O'<<16 | 'C'<<8 | 'L',
		RefTimeSec:     uint32(reference >> 32), RefTimeFrac: uint32(reference),
		OrigTimeSec: 0x01020304, OrigTimeFrac: 0x05060708,
		RxTimeSec: uint32(received >> 32), RxTimeFrac: uint32(received),
		TxTimeSec: uint32(sent >> 32), TxTimeFrac: uint32(sent),
	}
	if library, err := want.Bytes(); err != nil || !bytes.Equal(b[:n], library) {
		t.Errorf("reply %x, want %x (%v)", b[:n], library, err)
	}
}

// Whatever comes in, a reply is a mode-4 packet with the request's transmit stamp
// as its origin, no longer than the request, and only a client's request gets one.
func FuzzNTPRequest(f *testing.F) {
	f.Add([]byte{}, int64(0), int64(0))
	f.Add(append([]byte{0x23}, make([]byte, 47)...), int64(1_700_000_000_000_000_000), int64(time.Hour))
	f.Add(append([]byte{0xdb}, bytes.Repeat([]byte{0xff}, 67)...), int64(-1), int64(math.MinInt64))
	s, err := newNTPService(2, time.Now())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte, wall, shift int64) {
		isRequest := len(in) >= 48 && in[0]&7 == 3 && in[0]>>3&7 >= 1 && in[0]>>3&7 <= 4
		if s.accepts(in) != isRequest {
			t.Fatalf("accepts %x: %v", in, !isRequest)
		}
		if !isRequest {
			return
		}
		treated := treatment{shift: time.Duration(shift)}
		b := bytes.Clone(in)
		n := s.answer(b, len(in), arrival(len(in), wall), &treated)
		s.seal(b[:n], &treated)
		p, err := protocol.BytesToPacket(b[:n])
		if err != nil || n > len(in) {
			t.Fatalf("reply of %d bytes to %d: %v", n, len(in), err)
		}
		if p.Settings != in[0]&0x38|4 || p.Poll != int8(in[2]) || p.Stratum != 2 {
			t.Errorf("reply %+v to %x", p, in)
		}
		if !bytes.Equal(b[24:32], in[40:48]) {
			t.Errorf("origin %x, want the transmit stamp %x", b[24:32], in[40:48])
		}
		if got, want := binary.BigEndian.Uint64(b[32:]), receiveTime(wall+shift); got != want {
			t.Errorf("receive stamp %#x, want %#x", got, want)
		}
	})
}

// The echo returns what it was sent, but for its own stamps and the reply's mark.
func FuzzEchoRequest(f *testing.F) {
	request := echo.Packet{Session: 1, Seq: 2, ClientSent: 3}
	f.Add(request.Append(nil), int64(0))
	f.Add(append(request.Append(nil), 1, 2, 3), int64(1_700_000_000_000_000_000))
	f.Add([]byte("tmk"), int64(1))
	s := &echoService{start: time.Now()}
	f.Fuzz(func(t *testing.T, in []byte, wall int64) {
		before, err := echo.Parse(in)
		if s.accepts(in) != (err == nil && !before.Reply) {
			t.Fatalf("accepts %x: %v", in, s.accepts(in))
		}
		if !s.accepts(in) {
			return
		}
		b := bytes.Clone(in)
		n := s.answer(b, len(in), arrival(len(in), wall), &treatment{})
		s.seal(b[:n], &treatment{})
		after, err := echo.Parse(b)
		if err != nil || n != len(in) || !after.Reply || s.accepts(b) {
			t.Fatalf("reply %x to %x: %v", b, in, err)
		}
		if after.ServerSent < after.ServerReceived || after.ServerReceivedWall != wall {
			t.Errorf("stamps %+v", after)
		}
		if after.Session != before.Session || after.Seq != before.Seq || after.ClientSent != before.ClientSent ||
			!bytes.Equal(b[echo.Size:], in[echo.Size:]) {
			t.Errorf("reply %x to %x", b, in)
		}
	})
}

// Making a reply costs no memory; what is left between the transmit stamp and the
// system call is in ns/op of seal.
func BenchmarkMake(b *testing.B) {
	packet := echo.Packet{Session: 1, Seq: 2}
	for name, with := range map[string]struct {
		service service
		request []byte
	}{
		"ntp":  {newTestNTP(b), append([]byte{0x23}, make([]byte, 47)...)},
		"echo": {&echoService{start: time.Now()}, packet.Append(nil)},
	} {
		b.Run(name, func(b *testing.B) {
			var t treatment
			buf := make([]byte, 128)
			a := arrival(len(with.request), 1)
			b.ReportAllocs()
			for b.Loop() {
				copy(buf, with.request)
				n := with.service.answer(buf, len(with.request), a, &t)
				with.service.seal(buf[:n], &t)
			}
		})
	}
}
