package probes

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
	"github.com/tickmark/tickmark/probes/twoway"
)

const aSession = 0x0123456789abcdef

// linkOf remembers tests 0 to 9, of the attempts 100 to 109, that left at a second each.
func linkOf(tb testing.TB, mode *wire.STAMP) *twoWayLink {
	tb.Helper()
	clock, err := twoway.NewClock(twoway.NTP)
	if err != nil {
		tb.Fatal(err)
	}
	l := newTwoWayLink(nil, mode, clock, mode.Size(), 256)
	l.session, l.ssid, l.next = aSession, 0x5511, 10
	for n := range uint32(10) {
		*l.at(n) = sentTest{seq: int64(100 + n), time: timeOf(n), number: n}
	}
	return l
}

func timeOf(n uint32) wire.STAMPTime { return wire.STAMPTime(4_000_000_000+n)<<32 | 5 }

// reflectedThird is what a reflector makes of test 3.
func reflectedThird() wire.STAMPReflected {
	return wire.STAMPReflected{
		STAMPTest: wire.STAMPTest{Seq: 2, Time: timeOf(3) + 9<<16, Error: 0x8a01, SSID: 0x5511},
		Received:  timeOf(3) + 7<<16, Sender: wire.STAMPTest{Seq: 3, Time: timeOf(3)}, TTL: 61,
	}
}

func TestTwoWayLinkJudges(t *testing.T) {
	mode := wire.NewSTAMP(nil)
	for _, c := range []struct {
		name   string
		change func(p *wire.STAMPReflected)
		longer int
		want   string // good, doubtful or junk
	}{
		{"as it should be", func(*wire.STAMPReflected) {}, 0, "good"},
		{"of one who knows no SSID", func(p *wire.STAMPReflected) { p.SSID = 0 }, 0, "good"},
		{"TWAMP Light's, without padding", func(p *wire.STAMPReflected) { p.SSID = 0 }, -3, "good"},
		{"another SSID", func(p *wire.STAMPReflected) { p.SSID++ }, 0, "doubtful"},
		{"another time", func(p *wire.STAMPReflected) { p.Sender.Time++ }, 0, "doubtful"},
		{"of another test", func(p *wire.STAMPReflected) { p.Sender.Seq++ }, 0, "doubtful"},
		{"longer than it was sent", func(*wire.STAMPReflected) {}, 1, "doubtful"},
		{"of a test not sent so far", func(p *wire.STAMPReflected) { p.Sender.Seq = 10 }, 0, "junk"},
		{"of one long forgotten", func(p *wire.STAMPReflected) { p.Sender.Seq += 256 }, 0, "junk"},
		{"too short", func(*wire.STAMPReflected) {}, -4, "junk"},
	} {
		l := linkOf(t, mode)
		p := reflectedThird()
		c.change(&p)
		b := make([]byte, mode.Size(), mode.Size()+1)
		mode.PutReflected(b, &p)
		out := make([]byte, echo.Size)
		n := l.translate(out[:0], b[:len(b)+c.longer], &stamp.Arrival{})
		got := "junk"
		if r, err := echo.Parse(out[:n]); err == nil {
			got = map[bool]string{true: "good", false: "doubtful"}[r.Session == aSession]
			if !r.Reply || int64(r.Seq) != 100+int64(p.Sender.Seq) {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What a row says of the other end is what it said.
func TestTwoWayCells(t *testing.T) {
	for _, c := range []struct {
		a    attempt
		want string
	}{
		{attempt{t1: 1, t2: 20, t4: 40, server: 5, queued: 1 + 7<<8 + 61}, "1 20 25 40 5 61 7 -"},
		{attempt{t1: 1, t2: 20, t4: 40, server: -1, queued: 1}, "1 20 - 40 - - 0 -"},
		{attempt{server: -1, queued: -1, outcome: datasets.TimedOut}, "- - - - - - - -"},
		{attempt{server: -1, queued: -1, outcome: datasets.Invalid}, "- - - - - - - it is not what was sent: another SSID or time, or longer"},
		{attempt{server: -1, queued: -1, outcome: datasets.Invalid, stepped: true}, "- - - - - - - the wall clock stepped while it was in flight"},
	} {
		if got := strings.ReplaceAll(string(twoWayCells(nil, &c.a)), "\t", " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	// The largest that 40 bits hold, and the memory of a flight does not keep.
	s := pack(&attempt{queued: 1 + (1<<32-1)<<8 + 253}, 0)
	a := s.open(0)
	if cells := strings.Split(string(twoWayCells(nil, &a)), "\t"); cells[5] != "253" || cells[6] != "4294967295" {
		t.Errorf("%q", cells)
	}
}

// FuzzTwoWayLink holds the link to this: a reply is good if and only if it has the number
// and the time of a test that was sent, and its SSID or none; then it is that attempt's,
// and its stamps are the reflector's.
func FuzzTwoWayLink(f *testing.F) {
	mode := wire.NewSTAMP(nil)
	p := reflectedThird()
	b := make([]byte, mode.Size())
	mode.PutReflected(b, &p)
	f.Add(b)
	f.Add(b[:41])
	p.Sender.Seq, p.Error = 9, 0x4001
	mode.PutReflected(b, &p)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		l := linkOf(t, mode)
		out := make([]byte, echo.Size)
		near := int64(1_790_000_000e9)
		a := stamp.Arrival{Wall: datasets.NewStamp(near, datasets.Local, datasets.Kernel)}
		n := l.translate(out[:0], b, &a)
		if len(b) < 41 {
			if n != 0 {
				t.Fatalf("%d bytes are a reply", len(b))
			}
			return
		}
		number, at := binary.BigEndian.Uint32(b[24:]), wire.STAMPTime(binary.BigEndian.Uint64(b[28:]))
		ssid := binary.BigEndian.Uint16(b[14:])
		good := number < 10 && at == timeOf(number) && (ssid == 0 || ssid == 0x5511) && len(b) <= 44
		r, err := echo.Parse(out[:n])
		if (err == nil) != (number < 10) || good != (r.Session == aSession) {
			t.Fatalf("number %d, good %v: %+v, %v", number, good, r, err)
		}
		if !good {
			return
		}
		e := wire.ErrorEstimate(binary.BigEndian.Uint16(b[12:]))
		t2, ok2 := e.UnixNanos(wire.STAMPTime(binary.BigEndian.Uint64(b[16:])), near)
		t3, ok3 := e.UnixNanos(wire.STAMPTime(binary.BigEndian.Uint64(b[4:])), near)
		server, queued := served(&r)
		if ok2 && r.ServerReceivedWall != t2 || !ok2 && r.ServerReceivedWall != 0 || r.Seq != uint64(100+number) {
			t.Fatalf("%+v: t2 is %d, %v", r, t2, ok2)
		}
		if known := ok2 && ok3 && t3 >= t2 && t2 != 0; (server >= 0) != known || known && int64(server) != t3-t2 {
			t.Fatalf("the reflector had it for %v: %d to %d, %v %v", server, t2, t3, ok2, ok3)
		}
		if want := numbered40(binary.BigEndian.Uint32(b), b[40]); int64(queued) != want {
			t.Fatalf("number and TTL are %d, want %d", queued, want)
		}
	})
}
