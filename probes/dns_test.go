package probes

import (
	"encoding/binary"
	"errors"
	"flag"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func queryFor(tb testing.TB, options ...string) *dnsQuery {
	tb.Helper()
	fs := flag.NewFlagSet("dns", flag.ContinueOnError)
	build := bindDNSQuery(fs)
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		if err := fs.Set(name, value); err != nil {
			tb.Fatal(err)
		}
	}
	q, err := build()
	if err != nil {
		tb.Fatal(err)
	}
	return q
}

// RFC 1035, 4.1: written out by hand; with the OPT of RFC 6891, 6.1.2.
func TestDNSQueryOnTheWire(t *testing.T) {
	const plain = "\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + "\x04tick\x04test\x00" + "\x00\x1c\x00\x01"
	if got := string(queryFor(t, "name=tick.test", "type=aaaa", "edns=0").packed); got != plain {
		t.Errorf("%q, want %q", got, plain)
	}
	const more = "\x00\x00\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01" + "\x00" + "\x00\x02\x00\x01" + "\x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00"
	if got := string(queryFor(t).packed); got != more {
		t.Errorf("%q, want %q", got, more)
	}
}

func TestDNSType(t *testing.T) {
	for name, want := range map[string]dnsmessage.Type{"A": 1, "AAAA": 28, "TYPE65": 65, "TYPE65535": 65535, "TYPE0": 0, "TYPE65536": 0, "B": 0, "TYPE": 0} {
		got, ok := dnsType(name)
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%s: %d %v", name, got, ok)
		}
	}
}

// reply is an answer as a server would build it; change makes it another.
func replyTo(tb testing.TB, q *dnsQuery, id uint16, change func(m *dnsmessage.Message)) []byte {
	tb.Helper()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: id, Response: true},
		Questions: []dnsmessage.Question{q.question},
		Answers: []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.question.Name, Class: dnsmessage.ClassINET, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte(net.IPv4(192, 0, 2, 7).To4())},
		}},
	}
	if change != nil {
		change(&m)
	}
	b, err := m.Pack()
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestDNSJudge(t *testing.T) {
	q := queryFor(t, "name=Tick.test", "type=A")
	const id = 0xbeef
	other, _ := dnsmessage.NewName("tock.test.")
	lower, _ := dnsmessage.NewName("tick.TEST.")
	badVers := dnsmessage.ResourceHeader{}
	_ = badVers.SetEDNS0(1232, dnsmessage.RCode(16), false) // RFC 6891, 9: BADVERS is 16
	for name, tt := range map[string]struct {
		change func(m *dnsmessage.Message)
		cut    int
		want   *dnsAnswer
		other  bool
	}{
		"an answer":      {nil, 0, &dnsAnswer{answers: 1}, false},
		"another case":   {func(m *dnsmessage.Message) { m.Questions[0].Name = lower }, 0, &dnsAnswer{answers: 1}, false},
		"no such name":   {func(m *dnsmessage.Message) { m.RCode, m.Answers = 3, nil }, 0, &dnsAnswer{rcode: 3}, false},
		"truncated":      {func(m *dnsmessage.Message) { m.Truncated = true }, 5, &dnsAnswer{truncated: true}, false},
		"could not read": {func(m *dnsmessage.Message) { m.RCode, m.Questions, m.Answers = 1, nil, nil }, 0, &dnsAnswer{rcode: 1}, false},
		"extended code": {func(m *dnsmessage.Message) {
			m.Additionals = []dnsmessage.Resource{{Header: badVers, Body: &dnsmessage.OPTResource{}}}
		}, 0, &dnsAnswer{rcode: 16, answers: 1}, false},
		"another id":      {func(m *dnsmessage.Message) { m.ID++ }, 0, nil, true},
		"a query":         {func(m *dnsmessage.Message) { m.Response = false }, 0, nil, true},
		"another name":    {func(m *dnsmessage.Message) { m.Questions[0].Name = other }, 0, nil, true},
		"another type":    {func(m *dnsmessage.Message) { m.Questions[0].Type = 28 }, 0, nil, true},
		"another class":   {func(m *dnsmessage.Message) { m.Questions[0].Class = 3 }, 0, nil, true},
		"no question":     {func(m *dnsmessage.Message) { m.Questions = nil }, 0, nil, true},
		"two questions":   {func(m *dnsmessage.Message) { m.Questions = append(m.Questions, m.Questions[0]) }, 0, nil, true},
		"cut off":         {nil, 5, nil, false},
		"cut off earlier": {nil, 30, nil, true},
		"nothing much":    {nil, 45, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			q := *q
			b := replyTo(t, &q, id, tt.change)
			got, err := q.judge(b[:max(0, len(b)-tt.cut)], id)
			switch {
			case errors.Is(err, errOtherQuestion) != tt.other, (err != nil) != (tt.want == nil):
				t.Errorf("%+v, %v", got, err)
			case tt.want != nil && *got != *tt.want:
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// What is believed has our number and our question, or a code that explains its absence.
func FuzzDNSJudge(f *testing.F) {
	q := queryFor(f, "name=tick.test", "type=A")
	f.Add(replyTo(f, q, 7, nil), uint16(7))
	f.Add(replyTo(f, q, 7, func(m *dnsmessage.Message) { m.RCode, m.Questions, m.Answers = 1, nil, nil }), uint16(7))
	f.Fuzz(func(t *testing.T, b []byte, id uint16) {
		a, err := q.judge(b, id)
		if (a == nil) == (err == nil) {
			t.Fatalf("%+v, %v", a, err)
		}
		if err != nil {
			return
		}
		if binary.BigEndian.Uint16(b) != id || b[2]&0x80 == 0 || a.truncated != (b[2]&2 != 0) || a.rcode&0xf != int(b[3]&0xf) {
			t.Fatalf("%x: %+v", b, a)
		}
		if records := int(binary.BigEndian.Uint16(b[6:])); a.answers != records && !a.truncated {
			t.Fatalf("%x: %d answers, %d claimed", b, a.answers, records)
		}
		if questions := binary.BigEndian.Uint16(b[4:]); questions > 1 || questions == 0 && a.rcode == 0 {
			t.Fatalf("%x: %d questions", b, questions)
		}
	})
}
