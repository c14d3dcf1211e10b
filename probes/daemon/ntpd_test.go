package daemon

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/facebook/time/ntp/control"

	"github.com/tickmark/tickmark/datasets"
)

// fakeNtpd answers mode 6 as RFC 9327 describes, cutting each answer into fragments.
type fakeNtpd struct {
	status       uint16
	system       string
	peers        map[uint16]string // by association
	peerStatuses map[uint16]uint16
	fragment     int
}

// What NTPsec says, shortened; the names and forms are those of ntpq's documentation.
func goodNtpd() *fakeNtpd {
	return &fakeNtpd{
		status: 0x0615, // leap none, source ntp, one event
		system: `version="ntpd ntpsec-1.2.2, of a day", processor="x86_64", leap=00, stratum=2, precision=-23, ` +
			"rootdelay=4.073, rootdisp=1.25, refid=198.51.100.3,\r\nreftime=ec000000.80000000, clock=ec00000a.80000000, peer=2, " +
			"tc=6, mintc=0, offset=-0.028, frequency=11.064, sys_jitter=0.01, clk_wander=0.002, tai=37\r\n",
		peers: map[uint16]string{
			1: "srcadr=198.51.100.1, srcport=123, leap=00, stratum=1, rootdelay=0.000, rootdisp=0.015, refid=GPS, reach=0x7f, offset=-2.44, delay=18.25, dispersion=0.5, jitter=0.1",
			2: "srcadr=198.51.100.3, srcport=123, leap=00, stratum=1, rootdelay=0.500, rootdisp=0.015, refid=PPS, reach=255, offset=-0.388, delay=4.07, dispersion=0.25, jitter=0.125, filtdelay=4.07 4.08 4.09",
			9: "srcadr=198.51.100.77, srcport=123, leap=11, stratum=16, refid=INIT, reach=000, offset=0.000, delay=0.000",
		},
		peerStatuses: map[uint16]uint16{1: 0x911a, 2: 0x961a, 9: 0x8011}, // falsetick, sys.peer, reject
		fragment:     60,
	}
}

func (f *fakeNtpd) act(request []byte) [][]byte {
	op, association := request[1], binary.BigEndian.Uint16(request[6:])
	switch {
	case op == control.OpReadStatus && association == 0:
		var list []byte
		ids := make([]uint16, 0, len(f.peers))
		for id := range f.peers {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		for _, id := range ids {
			list = binary.BigEndian.AppendUint16(list, id)
			list = binary.BigEndian.AppendUint16(list, f.peerStatuses[id])
		}
		return f.cut(request, f.status, list)
	case op == control.OpReadVariables && association == 0:
		return f.cut(request, f.status, []byte(f.system))
	case op == control.OpReadVariables && f.peers[association] != "":
		return f.cut(request, f.peerStatuses[association], []byte(f.peers[association]))
	}
	return [][]byte{controlReply(request, 0x40, 4<<8, 0, nil)} // unknown association
}

// cut answers with data in fragments.
func (f *fakeNtpd) cut(request []byte, status uint16, data []byte) [][]byte {
	var out [][]byte
	for at := 0; ; at += f.fragment {
		end := min(at+f.fragment, len(data))
		more := byte(0)
		if end < len(data) {
			more = 0x20
		}
		out = append(out, controlReply(request, more, status, uint16(at), data[at:end]))
		if more == 0 {
			return out
		}
	}
}

func controlReply(request []byte, flags byte, status, offset uint16, data []byte) []byte {
	b := append([]byte(nil), request[:controlHead]...)
	b[1] |= 0x80 | flags
	binary.BigEndian.PutUint16(b[4:], status)
	binary.BigEndian.PutUint16(b[8:], offset)
	binary.BigEndian.PutUint16(b[10:], uint16(len(data)))
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func newFakeNtpd(t *testing.T, act behaviour) Daemon {
	t.Helper()
	d, err := newNtpd(fakeUDP(t, act).place)
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return d
}

func TestNtpdOverTheWire(t *testing.T) {
	r, err := ask(t, newFakeNtpd(t, goodNtpd().act))
	check(t, err)
	var names []string
	for _, c := range r.Claims {
		names = append(names, c.Source+" "+string(c.Status))
	}
	want := "ntpd synchronised, ntpd 198.51.100.1 falseticker, ntpd 198.51.100.3 selected, ntpd 198.51.100.77 unreachable"
	if got := strings.Join(names, ", "); got != want {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	c := r.Claims[0]
	checkCell(t, "offset", c.Offset, -28*time.Microsecond)
	checkCell(t, "frequency", c.Frequency, datasets.PPB(11_064))
	checkCell(t, "root delay", c.RootDelay, 4073*time.Microsecond)
	checkCell(t, "age", c.Age, 10*time.Second)
	checkCell(t, "leap", c.Leap, 0)
	// rootdelay/2 + rootdisp + 10 s of 15 ppm: 2036.5 + 1250 + 150 µs.
	checkCell(t, "bound", c.Bound, 3_436_500*time.Nanosecond)
	checkFacts(t, c, map[string]string{"version": "ntpd ntpsec-1.2.2, of a day", "tai": "37", "clk_wander": "0.002"})
	p := r.Claims[2]
	checkCell(t, "peer's offset", p.Offset, -388*time.Microsecond)
	// |offset| + (rootdelay + delay)/2 + rootdisp + dispersion + jitter
	checkCell(t, "peer's bound", p.Bound, (388+(500+4070)/2+15+250+125)*time.Microsecond)
	checkFacts(t, p, map[string]string{"select": "sys.peer"})
	if _, ok := p.Fact("filtdelay"); ok {
		t.Error("the samples behind the claim are recorded")
	}
	checkCell(t, "offset of one that never answered", r.Claims[3].Offset, nil)
}

// However the network orders and doubles the fragments, the answer is the same.
func TestNtpdFragmentsInAnyOrder(t *testing.T) {
	want, err := ask(t, newFakeNtpd(t, goodNtpd().act))
	check(t, err)
	for _, size := range []int{7, 60, 468} {
		f := goodNtpd()
		f.fragment = size
		got, err := ask(t, newFakeNtpd(t, func(request []byte) [][]byte {
			parts := f.act(request)
			doubled := append(slices.Clone(parts), parts...)
			slices.Reverse(doubled)
			return doubled
		}))
		check(t, err)
		facts, _, _ := strings.Cut(got.Claims[0].Facts, " strays=") // the copies that came too late
		if len(got.Claims) != len(want.Claims) || facts != want.Claims[0].Facts {
			t.Errorf("fragments of %d: %d claims, facts %s", size, len(got.Claims), got.Claims[0].Facts)
		}
	}
}

func TestNtpdStatuses(t *testing.T) {
	for _, c := range []struct {
		name, change, into string
		status             uint16
		want               datasets.ClaimStatus
		why                string
	}{
		{"alarm", "leap=00", "leap=11", 0xc615, datasets.Unsynchronised, ""},
		{"stratum 16", "stratum=2", "stratum=16", 0x0615, datasets.Unsynchronised, ""},
		{"its own clock", "refid=198.51.100.3", "refid=LOCAL(0)", 0x0515, datasets.FreeRunning, ""},
		{"the driver 127.127.1.0", "refid=198.51.100.3", "refid=127.127.1.0", 0x0615, datasets.FreeRunning, ""},
		{"an orphan", "refid=198.51.100.3", "refid=127.0.0.1", 0x0014, datasets.FreeRunning, ""}, // as NTPsec 1.2.2 says it
		{"no peer yet", "reftime=ec000000.80000000, clock=ec00000a.80000000, peer=2", "reftime=0x00000000.00000000, peer=0", 0x0014, datasets.FreeRunning, ""},
		{"no peer any more", "peer=2", "peer=0", 0x0615, datasets.Holdover, ""},
		{"long ago", "clock=ec00000a", "clock=ec000201", 0x0615, datasets.Stale, "no update for 8 polls of its source"}, // 513 s, polls of 64
		{"just not", "clock=ec00000a", "clock=ec000200", 0x0615, datasets.Synchronised, ""},                             // 512 s
		{"an era later", "reftime=ec000000", "reftime=ffffffff", 0x0615, datasets.Unsynchronised, ""},
	} {
		f := goodNtpd()
		f.status, f.system = c.status, strings.Replace(f.system, c.change, c.into, 1)
		if c.name == "an era later" { // 2^32 s after 1900 the seconds begin again
			f.system = strings.Replace(f.system, "clock=ec00000a", "clock=00000009", 1)
			c.want = datasets.Synchronised
		}
		r, err := ask(t, newFakeNtpd(t, f.act))
		check(t, err)
		if got := r.Claims[0]; got.Status != c.want || got.Why != c.why {
			t.Errorf("%s: %s, %q: want %s, %q", c.name, got.Status, got.Why, c.want, c.why)
		}
		if c.name == "an era later" {
			checkCell(t, c.name, r.Claims[0].Age, 10*time.Second)
		}
	}
}

func TestNtpdThatSaysNo(t *testing.T) {
	_, err := ask(t, newFakeNtpd(t, func(request []byte) [][]byte {
		return [][]byte{controlReply(request, 0x40, 7<<8, 0, nil)}
	}))
	if err == nil || err.Error() != "it says administratively prohibited" {
		t.Errorf("got %v", err)
	}
	f := goodNtpd()
	r, err := ask(t, newFakeNtpd(t, func(request []byte) [][]byte {
		if request[1] == control.OpReadStatus {
			return [][]byte{controlReply(request, 0x40, 99<<8, 0, nil)}
		}
		return f.act(request)
	}))
	check(t, err)
	checkFacts(t, r.Claims[0], map[string]string{"missing": "associations: it says error 99"})
	if len(r.Claims) != 1 || r.Claims[0].Status != datasets.Synchronised {
		t.Errorf("%v", r.Claims)
	}
}

func TestVariables(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{`a=1, b="x, y", c`, `[{a 1} {b x, y} {c }]`},
		{"a=1,\r\nb = 2 ,,", `[{a 1} {b 2}]`},
		{`filt=1 2  3,x="open, to the end`, `[{filt 1 2  3} {x open, to the end}]`},
		{`bad name=1, ü=2, a=b=c`, `[{a b=c}]`},
		{"", `[]`},
	} {
		if got := fmt.Sprint(variables([]byte(c.text))); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// The answers of a real ntpd that tcpdump's own test recorded are put together and read.
func TestNtpdAnswersFromARecording(t *testing.T) {
	corpus := os.Getenv("TICKMARK_CORPUS")
	if corpus == "" {
		t.Skip("needs TICKMARK_CORPUS, a folder of recordings of other tools")
	}
	data, err := os.ReadFile(filepath.Join(corpus, "pcap-ntp", "tcpdump", "ntp-control.pcap"))
	check(t, err)
	whole, open := 0, map[uint16]*assembly{}
	for _, payload := range controlPackets(t, data) {
		sequence := binary.BigEndian.Uint16(payload[2:])
		if payload[1]&0x80 == 0 {
			open[sequence] = &assembly{question: control.NTPControlMsgHead{
				REMOp: payload[1], Sequence: sequence, AssociationID: binary.BigEndian.Uint16(payload[6:]),
			}}
			continue
		}
		a := open[sequence]
		if a == nil || !a.add(payload) || !a.whole() {
			continue
		}
		answer, err := a.answer()
		check(t, err)
		if len(answer.data) == 0 {
			continue
		}
		var c datasets.Claim
		switch whole++; a.question.AssociationID {
		case 0:
			if strings.HasPrefix(string(answer.data), "version") { // rv
				claimSystem(&c, answer)
				checkCell(t, "offset", c.Offset, -486_633*time.Nanosecond)
				checkCell(t, "frequency", c.Frequency, datasets.PPB(-76_397))
				checkCell(t, "root dispersion", c.RootDispersion, 69_839*time.Microsecond)
				checkCell(t, "age", c.Age, 715_599_549_868*time.Nanosecond) // dd47f314.9cc5a445 − dd47f049.03498a9f
			}
		case 48829: // the system's peer
			r := reading()
			claimPeer(r, answer)
			// |−487| + (366 + 342)/2 + 48447 + 20215 + 421 µs
			checkCell(t, "peer's bound", r.Claims[0].Bound, 69_924*time.Microsecond)
			checkCell(t, "peer's stratum", r.Claims[0].Stratum, 2)
		}
	}
	if whole != 8 { // rv, the list twice, rv of five associations
		t.Errorf("%d answers were put together", whole)
	}
}

// controlPackets cuts the UDP payloads of mode 6 out of a pcap of Ethernet and IPv6.
func controlPackets(t *testing.T, pcap []byte) [][]byte {
	t.Helper()
	var out [][]byte
	for at := 24; at+16 <= len(pcap); {
		n := int(binary.LittleEndian.Uint32(pcap[at+8:]))
		frame := pcap[at+16 : at+16+n]
		at += 16 + n
		const head = 14 + 40 + 8
		if len(frame) >= head+controlHead && frame[12] == 0x86 && frame[20] == 17 && frame[head]&7 == control.Mode {
			out = append(out, frame[head:])
		}
	}
	return out
}

// FuzzControl: fragments either make up an answer, which is then exactly their data in
// their order, or nothing.
func FuzzControl(f *testing.F) {
	good := goodNtpd()
	request := controlReply(make([]byte, controlHead), 0, 0, 0, nil)
	request[0], request[1] = 0x16, control.OpReadVariables
	for _, part := range good.act(request) {
		f.Add(part, part, uint16(0x0615))
	}
	f.Add([]byte("\x16\x82\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02ab"), []byte("\x16\x82\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00"), uint16(0))
	f.Fuzz(func(t *testing.T, one, two []byte, status uint16) {
		a := assembly{question: control.NTPControlMsgHead{VnMode: 0x16, REMOp: control.OpReadVariables}}
		took := 0
		for _, datagram := range [][]byte{one, two} {
			if a.add(datagram) {
				took += len(datagram) - controlHead
			}
		}
		if !a.whole() {
			return
		}
		answer, err := a.answer()
		if err != nil {
			return
		}
		if len(answer.data) > took {
			t.Errorf("%d bytes out of %d", len(answer.data), took)
		}
		c := datasets.Claim{Source: "ntpd"}
		answer.status = status
		claimSystem(&c, answer)
		checkClaim(t, &c)
		r := reading()
		claimPeer(r, answer)
		checkClaim(t, r.Claims[0])
		for _, v := range variables(answer.data) {
			if !validName(v.Key) || len(v.Value) > longestValue {
				t.Errorf("a variable %q", v)
			}
		}
		_ = associations(answer.data)
	})
}
