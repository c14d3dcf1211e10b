package probes

import (
	"bytes"
	"encoding/binary"
	"testing"

	xicmp "golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"github.com/tickmark/tickmark/probes/echo"
)

// answerTo is what a host makes of an echo: its type changed and its checksum anew, by
// another implementation.
func answerTo(tb testing.TB, v6 bool, request []byte) []byte {
	tb.Helper()
	protocol, reply := 1, xicmp.Type(ipv4.ICMPTypeEchoReply)
	if v6 {
		protocol, reply = 58, ipv6.ICMPTypeEchoReply
	}
	m, err := xicmp.ParseMessage(protocol, request)
	if err != nil {
		tb.Fatal(err)
	}
	if m.Type != ipv4.ICMPTypeEcho && m.Type != ipv6.ICMPTypeEchoRequest || m.Code != 0 {
		tb.Fatalf("request %+v", m)
	}
	b, err := (&xicmp.Message{Type: reply, Body: m.Body}).Marshal(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestEchoFormRoundTrip(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		f := echoForm{v6: v6, id: 0xbeef}
		p := echo.Packet{Session: 7, Seq: 0x123456}
		payload := append(p.Append(nil), "odd"...)
		request := f.append(nil, uint16(p.Seq), payload)
		// RFC 1071: what carries its checksum adds up to zero.
		if !v6 && checksum(request) != 0 {
			t.Errorf("checksum of the whole: %#x", checksum(request))
		}
		if _, ok := f.payload(bytes.Clone(request)); ok {
			t.Error("a request is taken for a reply")
		}
		reply := answerTo(t, v6, request)
		for name, c := range map[string]struct {
			form   echoForm
			change func([]byte) []byte
			ok     bool
			reply  bool
		}{
			"as it is":             {f, func(b []byte) []byte { return b }, true, true},
			"of another":           {echoForm{v6: v6, id: 1}, func(b []byte) []byte { return b }, false, false},
			"of whatever id":       {echoForm{v6: v6, id: 1, any: true}, func(b []byte) []byte { return b }, true, true},
			"another number":       {f, func(b []byte) []byte { b[7]++; return b }, true, false},
			"a reply sent back":    {f, func(b []byte) []byte { b[icmpHeader+5] = 1; return b }, true, false},
			"a code":               {f, func(b []byte) []byte { b[1] = 1; return b }, false, false},
			"short":                {f, func(b []byte) []byte { return b[:7] }, false, false},
			"behind an IP header":  {f, func(b []byte) []byte { return append(append([]byte{0x45}, make([]byte, 19)...), b...) }, !v6, true},
			"behind a cut header":  {f, func([]byte) []byte { return []byte{0x4f, 0} }, false, false},
			"the other IP's reply": {echoForm{v6: !v6, id: 0xbeef}, func(b []byte) []byte { return b }, false, false},
		} {
			got, ok := c.form.payload(c.change(bytes.Clone(reply)))
			if ok != c.ok {
				t.Errorf("v6 %v, %s: %v, want %v", v6, name, ok, c.ok)
				continue
			}
			if !ok {
				continue
			}
			q, err := echo.Parse(got)
			if err != nil || q.Reply != c.reply || q.Seq != p.Seq || q.Session != p.Session || len(got) != len(payload) {
				t.Errorf("v6 %v, %s: %+v, %v", v6, name, q, err)
			}
		}
	}
}

// Whatever comes in, only what says it is a reply with our numbers is one.
func FuzzEchoForm(f *testing.F) {
	p := echo.Packet{Session: 7, Seq: 9}
	form := echoForm{id: 0xbeef}
	f.Add(answerTo(f, false, form.append(nil, 9, p.Append(nil))), false)
	f.Add([]byte{0x45, 0}, false)
	f.Add([]byte{129, 0, 0, 0, 0xbe, 0xef, 0, 9}, true)
	f.Fuzz(func(t *testing.T, b []byte, v6 bool) {
		form := echoForm{v6: v6, id: 0xbeef}
		payload, ok := form.payload(bytes.Clone(b))
		if !ok {
			return
		}
		header := b[len(b)-len(payload)-icmpHeader:]
		if binary.BigEndian.Uint16(header[4:]) != form.id || header[1] != 0 {
			t.Fatalf("header %x", header[:icmpHeader])
		}
		q, err := echo.Parse(payload)
		if err == nil && q.Reply && uint16(q.Seq) != binary.BigEndian.Uint16(header[6:]) {
			t.Fatalf("a reply with number %d in a message with %x", q.Seq, header[6:8])
		}
	})
}

// RFC 1071, section 3: the sum of 00 01 f2 03 f4 f5 f6 f7 is ddf2.
func TestChecksum(t *testing.T) {
	if got := checksum([]byte{0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7}); got != ^uint16(0xddf2) {
		t.Errorf("%#x", got)
	}
}

func TestDenied(t *testing.T) {
	s := newStory()
	for i := range 3 {
		s.send(float64(10*i), float64(10*i))
	}
	s.deny(1)
	s.deny(1)      // told twice
	s.deny(0xffff) // never sent
	s.arrive(reply(0), reading{at: ms(40)})
	s.quiet(2000)
	check(t, s, "0 replied after 40ms | 1 refused | 2 timed-out", strays{refusals: 2})
	// Beyond the 16 bits of the header, the latest of that number is meant.
	s = newStory()
	for i := range 0x10003 {
		s.send(float64(i), float64(i))
		if i < 0x10002 {
			s.deny(uint16(i))
		}
		s.handOver(1000, func(int64, attempt) {})
	}
	s.deny(2)
	s.handOver(1000, s.tell)
	check(t, s, "65538 refused", strays{})
}
