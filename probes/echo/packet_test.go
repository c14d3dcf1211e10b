package echo_test

import (
	"bytes"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/probes/echo"
)

func full() echo.Packet {
	return echo.Packet{
		Session: 0x0102030405060708, Seq: math.MaxUint64, ClientSent: -1,
		ServerReceived: math.MinInt64, ServerSent: math.MaxInt64,
		ServerReceivedWall: 3, ServerSentWall: 4, ServerQueued: 5, Reply: true,
	}
}

// The bytes were laid out by hand from the table in Append's comment.
func TestAppendLayout(t *testing.T) {
	p := full()
	want := "746d6be401010000" + "0102030405060708" + "ffffffffffffffff" + "ffffffffffffffff" +
		"8000000000000000" + "7fffffffffffffff" + "0000000000000003" + "0000000000000004" +
		"0000000000000005" + strings.Repeat("00", 24)
	if got := hex.EncodeToString(p.Append(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	p := full()
	if got, want := p.Append([]byte("ab")), append([]byte("ab"), p.Append(nil)...); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// A server answers in the buffer the request came in: the padding must go back.
func TestReplyInPlace(t *testing.T) {
	request := echo.Packet{Session: 7, Seq: 9}
	buf := append(request.Append(nil), "padding"...)
	p, err := echo.Parse(buf)
	if err != nil {
		t.Fatal(err)
	}
	p.Reply, p.ServerSent = true, 11
	p.Append(buf[:0])
	got, err := echo.Parse(buf)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(echo.Packet{Session: 7, Seq: 9, ServerSent: 11, Reply: true}, got); diff != "" {
		t.Error(diff)
	}
	if string(buf[echo.Size:]) != "padding" {
		t.Errorf("padding came back as %q", buf[echo.Size:])
	}
}

func TestParseRefuses(t *testing.T) {
	p := full()
	for name, tt := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"nothing":          {func([]byte) []byte { return nil }, "0 bytes: want at least 96"},
		"cut short":        {func(b []byte) []byte { return b[:echo.Size-1] }, "95 bytes"},
		"another protocol": {func(b []byte) []byte { b[0] = 0x1b; return b }, "begins with"},
		"a later version":  {func(b []byte) []byte { b[4] = 2; return b }, "version 2: want 1"},
		"unknown flag":     {func(b []byte) []byte { b[5] = 2; return b }, "flags 020000"},
		"reserved":         {func(b []byte) []byte { b[95] = 1; return b }, "reserved bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := echo.Parse(tt.change(p.Append(nil)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if got != (echo.Packet{}) {
				t.Errorf("got %+v beside the error", got)
			}
		})
	}
}

// Whatever Parse takes, Append writes back to the byte, and Parse reads again.
func FuzzParse(f *testing.F) {
	p := full()
	f.Add(p.Append(nil))
	f.Add(append((&echo.Packet{Seq: 1}).Append(nil), "padding"...))
	f.Add([]byte("tmk\xe4\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := echo.Parse(b)
		if err != nil {
			return
		}
		again := p.Append(nil)
		if !bytes.Equal(again, b[:echo.Size]) {
			t.Fatalf("read  %x\nwrote %x", b[:echo.Size], again)
		}
		if q, err := echo.Parse(again); err != nil || q != p {
			t.Fatalf("got %+v, %v; want %+v", q, err, p)
		}
	})
}

func FuzzPacket(f *testing.F) {
	f.Add(uint64(1), uint64(2), int64(3), int64(4), int64(5), int64(6), int64(7), int64(8), true)
	f.Fuzz(func(t *testing.T, session, seq uint64, sent, recv, back, recvWall, backWall, queued int64, reply bool) {
		p := echo.Packet{
			Session: session, Seq: seq, ClientSent: sent, ServerReceived: recv, ServerSent: back,
			ServerReceivedWall: recvWall, ServerSentWall: backWall, ServerQueued: queued, Reply: reply,
		}
		if got, err := echo.Parse(p.Append(nil)); err != nil || got != p {
			t.Fatalf("got %+v, %v; want %+v", got, err, p)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	p := full()
	buf := make([]byte, 0, echo.Size)
	b.ReportAllocs()
	for b.Loop() {
		p.Append(buf)
	}
}

func BenchmarkParse(b *testing.B) {
	p := full()
	buf := p.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := echo.Parse(buf); err != nil {
			b.Fatal(err)
		}
	}
}
