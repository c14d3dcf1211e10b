package wire_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets/wire"
)

// corpus opens a file of the collection of captures that TICKMARK_CORPUS names.
func corpus(tb testing.TB, name string) *os.File {
	tb.Helper()
	root := os.Getenv("TICKMARK_CORPUS")
	if root == "" {
		tb.Skip("TICKMARK_CORPUS is not set: want the folder of the corpus")
	}
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	return f
}

// lines returns the lines of a file of the corpus.
func lines(tb testing.TB, name string) []string {
	tb.Helper()
	var all []string
	s := bufio.NewScanner(corpus(tb, name))
	for s.Scan() {
		all = append(all, s.Text())
	}
	if err := s.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// packets reads a capture of the corpus to its end.
func packets(tb testing.TB, name string) ([]wire.Packet, wire.CaptureCounts) {
	tb.Helper()
	all, counts, err := readCapture(corpus(tb, name))
	if err != nil {
		tb.Fatal(err)
	}
	return all, counts
}

// The known answers are what tcpdump prints: 2038-01-01 and 2106-02-07 06:28:16, and of
// three frames two with "invalid us".
func TestCorpusEdges(t *testing.T) {
	for name, want := range map[string]string{
		"pcap-edge/time_2038.pcap":            "2038-01-01T00:00:00Z",
		"pcap-edge/time_2106_overflow.pcapng": "2106-02-07T06:28:16Z",
	} {
		got, _ := packets(t, name)
		if len(got) != 1 || !got[0].Stamped || got[0].UnixNanos != utc(t, want) || len(got[0].Payload) != 56 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got, counts := packets(t, "pcap-edge/timestamp_invalid_micro.pcap")
	if want := (wire.CaptureCounts{Frames: 3, Foreign: 3, Unstamped: 2}); len(got) != 0 || counts != want {
		t.Errorf("%+v", counts)
	}
}

// Each packet must be as tcpdump prints it.
func TestCorpusPTP(t *testing.T) {
	for _, name := range []string{"pcap-ptp/ptp", "pcap-ptp/ptp_corrections", "pcap-ptp/ptp_ethernet"} {
		got, counts := packets(t, name+".pcap")
		want := lines(t, name+".expected")
		if len(got) != len(want) || counts.Frames != len(want) {
			t.Errorf("%s: %+v, want %d packets", name, counts, len(want))
			continue
		}
		for i, p := range got {
			m, err := wire.DecodePTP(p.Payload)
			if err != nil {
				t.Errorf("%s: packet %d: %v", name, i+1, err)
				continue
			}
			text := strings.Join(strings.Fields(want[i])[1:], " ")
			if printed := likeTcpdump(&p, &m, text); printed != text {
				t.Errorf("%s: packet %d\n got %s\nwant %s", name, i+1, printed, text)
			}
		}
	}
}

// likeTcpdump writes a message in tcpdump's words. What we do not keep, the reserved
// and obsolete fields, is copied from its own line.
func likeTcpdump(p *wire.Packet, m *wire.PTP, line string) string {
	copied := func(before, after string) string {
		_, rest, _ := strings.Cut(line, before)
		value, _, _ := strings.Cut(rest, after)
		return before + value
	}
	var w strings.Builder
	at := time.Unix(0, p.UnixNanos).UTC().Format("2006-01-02 15:04:05.000000")
	if p.Transport == wire.OverEthernet {
		mac := func(m wire.MAC) string { return net.HardwareAddr(m[:]).String() }
		fmt.Fprintf(&w, "%s %s > %s, ethertype PTP (0x88f7), length %d: ", at, mac(p.SrcMAC), mac(p.DstMAC), 14+p.OriginalLen)
	} else {
		fmt.Fprintf(&w, "%s IP %s.%d > %s.%d: ", at, p.Src.Addr(), p.Src.Port(), p.Dst.Addr(), p.Dst.Port())
	}
	kind := strings.ToLower(strings.ReplaceAll(m.Type.String(), "_", " "))
	length := len(p.Payload)
	if p.Transport == wire.OverEthernet { // the rest is padding
		length = map[wire.PTPType]int{wire.Sync: 44, wire.FollowUp: 44, wire.DelayReq: 44, wire.DelayResp: 54, wire.Announce: 64}[m.Type] + len(m.TLVs)
	}
	fmt.Fprintf(&w, "PTPv2, majorSdoId: 0x%x, msg type: %s msg, length: %d, domain: %d, ", m.SdoID>>8, kind, length, m.Domain)
	flags := "none"
	switch {
	case m.Flags.Has(wire.FlagTwoStep):
		flags = "two step"
	case m.Flags.Has(wire.FlagUnicast):
		flags = "unicast"
	}
	fmt.Fprintf(&w, "%s, Flags [%s], NS correction: %d, sub NS correction: %d, %s", copied("reserved1: ", ","), flags,
		uint64(m.Correction)>>16, uint64(m.Correction)&0xffff, copied("reserved2: ", ","))
	fmt.Fprintf(&w, ", clock identity: 0x%x, port id: %d, seq id: %d, %s, log message interval: %d, ", uint64(m.Source.Clock), m.Source.Port,
		m.Sequence, copied("control: ", ","), uint8(m.LogInterval))
	stamp := fmt.Sprintf("%d.%09d seconds", m.Timestamp.Seconds, m.Timestamp.Nanos)
	switch a := m.Announcement; m.Type {
	case wire.FollowUp:
		fmt.Fprintf(&w, "preciseOriginTimeStamp: %s", stamp)
	case wire.DelayResp:
		fmt.Fprintf(&w, "receiveTimeStamp: %s, port identity: 0x%x, port id: %d", stamp, uint64(m.Requesting.Clock), m.Requesting.Port)
	case wire.Announce:
		fmt.Fprintf(&w, "originTimeStamp: %s, origin cur utc:%d, %s, gm priority_1: %d, gm clock class: %d, gm clock accuracy: %d, gm clock variance: %d, ",
			stamp, a.UTCOffset/time.Second, copied("rsvd: ", ","), a.Priority1, a.Class, a.Accuracy, a.Variance)
		fmt.Fprintf(&w, "gm priority_2: %d, gm clock id: 0x%x, steps removed: %d, time source: 0x%02x", a.Priority2, uint64(a.Grandmaster), a.StepsRemoved, a.TimeSource)
	default:
		fmt.Fprintf(&w, "originTimeStamp: %s", stamp)
	}
	return w.String()
}

// Each packet must be as Zeek's log has it, where times are decimals and unset is 1900.
func TestCorpusNTPAgainstZeek(t *testing.T) {
	for _, name := range []string{"NTP_sync", "misordered-ntp", "ntp", "ntp2"} {
		got, _ := packets(t, "pcap-ntp/zeek/"+name+".pcap")
		var want [][]string
		for _, line := range lines(t, "pcap-ntp/zeek/"+name+".pcap.expected") {
			if !strings.HasPrefix(line, "#") {
				want = append(want, strings.Split(line, "\t"))
			}
		}
		i := 0
		for _, p := range got {
			n, err := wire.DecodeNTP(p.Payload)
			switch {
			case p.Src.Port() != 123 && p.Dst.Port() != 123, n.Mode >= 6: // Zeek's log leaves them out
				continue
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case i < len(want):
				compareWithZeek(t, name, &p, &n, want[i])
			}
			i++
		}
		if i != len(want) {
			t.Errorf("%s: %d packets, want %d", name, i, len(want))
		}
	}
}

func compareWithZeek(t *testing.T, name string, p *wire.Packet, n *wire.NTP, f []string) {
	t.Helper()
	number := func(field int) float64 {
		v, err := strconv.ParseFloat(f[field], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	stamp := func(at wire.NTPTime) float64 {
		if at.IsZero() {
			return 0
		}
		return float64(at.UnixNanos(p.UnixNanos)) / 1e9
	}
	for _, c := range []struct {
		field int
		got   float64
	}{
		{6, float64(n.Version)},
		{7, float64(n.Mode)},
		{8, float64(n.Stratum)},
		{9, math.Exp2(float64(n.Poll))},
		{10, math.Exp2(float64(n.Precision))},
		{11, n.RootDelay.Seconds()},
		{12, n.RootDispersion.Seconds()},
		{14, stamp(n.Reference)},
		{15, stamp(n.Origin)},
		{16, stamp(n.Receive)},
		{17, stamp(n.Transmit)},
	} {
		if want := number(c.field); math.Abs(c.got-want) > 1e-6 {
			t.Errorf("%s: %s > %s: field %d is %f, want %f", name, f[2], f[4], c.field, c.got, want)
		}
	}
	if id := f[13]; strings.Contains(id, ".") && n.Refid() != id || !strings.Contains(id, `\x`) && !strings.Contains(id, ".") && n.Refid() != id {
		t.Errorf("%s: reference %q, want %q", name, n.Refid(), id)
	}
	if a, b := p.Src.Addr().String(), p.Dst.Addr().String(); a != f[2] && a != f[4] || b != f[2] && b != f[4] {
		t.Errorf("%s: %s > %s, want %s and %s", name, a, b, f[2], f[4])
	}
}

// The expected texts of tcpdump: packet 2 of ntp-time-ef has two extension fields, of
// 36 and 248 bytes, a request four; packets of ntp-v a SHA-1 MAC each, one a crypto-NAK.
func TestCorpusNTPExtensions(t *testing.T) {
	got, _ := packets(t, "pcap-ntp/tcpdump/ntp-time-ef.pcap")
	want := [][]int{{0x0104, 36, 0x0204, 104, 0x0304, 104, 0x0404, 40}, {0x0104, 36, 0x0404, 248}}
	for i, p := range got {
		n, err := wire.DecodeNTP(p.Payload)
		if err != nil {
			t.Fatal(err)
		}
		var fields []int
		for kind, body := range n.Extensions() {
			fields = append(fields, int(kind), 4+len(body))
		}
		if diff := cmp.Diff(want[i], fields); diff != "" || len(n.MAC)+len(n.Rest) > 0 {
			t.Errorf("packet %d: %s", i+1, diff)
		}
	}
	got, _ = packets(t, "pcap-ntp/tcpdump/ntp.pcap")
	var macs []int
	for _, p := range got {
		n, err := wire.DecodeNTP(p.Payload)
		if err != nil || len(n.Fields)+len(n.Rest) > 0 {
			t.Fatal(err)
		}
		macs = append(macs, len(n.MAC))
	}
	if want := len(got); want != 8 || macs[0] != 24 || macs[1] != 4 {
		t.Errorf("%d packets, MACs of %v bytes", want, macs)
	}
}

// The numbers of packets are those of the corpus's list.
func TestCorpusCounts(t *testing.T) {
	for name, want := range map[string]int{
		"pcap-ntp/leapsecond/ntp_2P.pcap": 439, "pcap-ntp/ndpi/NTPv2.pcap": 1, "pcap-ntp/ndpi/NTPv3.pcap": 1,
		"pcap-ntp/tcpdump/ntp-control.pcap": 21, "pcap-ntp/tcpdump/ntp-time-ef.pcap": 2, "pcap-ntp/tcpdump/ntp.pcap": 8,
		"pcap-ntp/zeek/NTP_sync.pcap": 32, "pcap-ntp/zeek/misordered-ntp.pcap": 2, "pcap-ntp/zeek/ntp.pcap": 32, "pcap-ntp/zeek/ntp2.pcap": 35,
		"pcap-ptp/ptp.pcap": 5, "pcap-ptp/ptp_corrections.pcap": 3, "pcap-ptp/ptp_ethernet.pcap": 205,
	} {
		_, counts := packets(t, name)
		if counts.Frames != want || counts.Malformed+counts.UnknownLink+counts.Unstamped > 0 {
			t.Errorf("%s: %+v, want %d packets", name, counts, want)
		}
	}
}

// Requests and replies of Zeek's captures as its logs have them: mode 3 or 1, and of
// each the line of mode 4 or 2 with its xmt as org.
func TestCorpusNTPPairs(t *testing.T) {
	for name, want := range map[string]wire.NTPCounts{
		"zeek/ntp.pcap":            {Requests: 16, Replies: 16, Answered: 16, Basic: 16},
		"zeek/ntp2.pcap":           {Requests: 17, Replies: 17, Answered: 17, Basic: 17},
		"zeek/NTP_sync.pcap":       {Requests: 30, Replies: 15, Answered: 15, Basic: 15, Unanswered: 15}, // peers: each reply asks again
		"zeek/misordered-ntp.pcap": {Requests: 1, Replies: 1, Answered: 1, Basic: 1},
		"leapsecond/ntp_2P.pcap":   {Requests: 224, Replies: 215, Answered: 215, Basic: 215, Unanswered: 9}, // counted by another program
	} {
		got, _ := packets(t, "pcap-ntp/"+name)
		var lines []string
		pairs := wire.NTPPairs{Emit: func(x *wire.NTPExchange) {
			delay := (x.T4.UnixNanos - x.T1.UnixNanos) - (x.T3.UnixNanos - x.T2.UnixNanos)
			lines = append(lines, fmt.Sprintf("%v %v", x.Server, time.Duration(delay).Round(time.Millisecond)))
			if misordered := name == "zeek/misordered-ntp.pcap"; (delay < 0) != misordered || delay > 2e9 {
				t.Errorf("%s: %v: a delay of %v", name, x.Server, time.Duration(delay))
			}
		}}
		for _, p := range got {
			if n, err := wire.DecodeNTP(p.Payload); err == nil && (p.Src.Port() == 123 || p.Dst.Port() == 123) {
				pairs.Add(&p, &n)
			}
		}
		pairs.Close()
		if diff := cmp.Diff(want, pairs.Counts()); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, strings.Join(lines, "\n"))
		}
	}
}

// The pairs of ptp_ethernet.pcap are found a second time in tcpdump's text: by port
// identity and number, times as they are printed.
func TestCorpusPTPPairs(t *testing.T) {
	var got []string
	counts := corpusPTPPairs(t, "pcap-ptp/ptp_ethernet.pcap", func(x *wire.PTPExchange) {
		if x.Kind == wire.OneWay {
			got = append(got, fmt.Sprintf("%x-%d %d: %d", uint64(x.Server.Clock), x.Server.Port, x.Sequence, x.T4.UnixNanos-x.T3.UnixNanos))
		}
	})
	syncs := map[string]int64{}
	var want []string
	for _, line := range lines(t, "pcap-ptp/ptp_ethernet.expected") {
		value := func(after, until string) string {
			_, rest, _ := strings.Cut(line, after)
			v, _, _ := strings.Cut(rest, until)
			return v
		}
		key := fmt.Sprintf("%s-%s %s", value("clock identity: 0x", ","), value("port id: ", ","), value("seq id: ", ","))
		f := strings.Fields(line)
		at := utc(t, f[1]+"T"+f[2]+"Z")
		switch {
		case strings.Contains(line, "msg type: sync msg"):
			syncs[key] = at
		case strings.Contains(line, "msg type: follow up msg"):
			told, err := strconv.ParseInt(strings.Replace(value("preciseOriginTimeStamp: ", " "), ".", "", 1), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%s: %d", key, syncs[key]-told))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 50 {
		t.Errorf("%d pairs: %s", len(got), diff)
	}
	if counts.OneWay != len(want) || counts.SyncWithoutFollowUp != len(syncs)-len(want) || counts.FollowUpWithoutSync+counts.Repeated+counts.Unset > 0 {
		t.Errorf("%+v, want %d Syncs, %d pairs", counts, len(syncs), len(want))
	}
	// tcpdump's texts of the other two: one delay is measured before the first Sync in both.
	for name, want := range map[string]string{
		"pcap-ptp/ptp.pcap":             "one-way 1516736650034751783 1516736650034745000 0s 36s",
		"pcap-ptp/ptp_corrections.pcap": "one-way 1665510783681548698 1665510746682034000 105.045µs 0s",
	} {
		var got string
		counts := corpusPTPPairs(t, name, func(x *wire.PTPExchange) {
			correction, _ := x.CorrectionBack.Duration()
			got += fmt.Sprint(x.Kind, " ", x.T3.UnixNanos, " ", x.T4.UnixNanos, " ", correction, " ", x.Announcement.UTCOffset)
		})
		if got != want || counts.OneWay != 1 || counts.DelayWithoutSync != 1 {
			t.Errorf("%s: %s, want %s; %+v", name, got, want, counts)
		}
	}
}

func corpusPTPPairs(t *testing.T, name string, emit func(*wire.PTPExchange)) wire.PTPCounts {
	t.Helper()
	all, _ := packets(t, name)
	pairs := wire.PTPPairs{Emit: emit}
	for _, p := range all {
		m, err := wire.DecodePTP(p.Payload)
		if err != nil {
			t.Fatal(err)
		}
		pairs.Add(&p, &m)
	}
	pairs.Close()
	return pairs.Counts()
}

// The author's d (delay) and t (θ) of each message, from float64: differences of 1e-6 s
// are his. The first T1 of each burst is 1970, which is near enough to be told from era
// 1, and its θ is 26 years.
func TestCorpusNTPTimestamps(t *testing.T) {
	data, err := io.ReadAll(corpus(t, "ntp-timestamps/ntp-client-lan/metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		OriginateTimestamp, RxTimestamp, TxTimestamp, DestinationTimestamp json.Number
		D, T                                                               float64
	}
	if err := json.Unmarshal(data, &all); err != nil || len(all) != 120 {
		t.Fatal(len(all), err)
	}
	now := utc(t, "2022-03-12T00:00:00Z")
	for id, m := range all {
		at := func(text json.Number) int64 { return ntpTime(t, text.String()).UnixNanos(now) }
		t1, t2, t3, t4 := at(m.OriginateTimestamp), at(m.RxTimestamp), at(m.TxTimestamp), at(m.DestinationTimestamp)
		theta, delta := float64((t2-t1)+(t3-t4))/2e9, float64((t4-t1)-(t3-t2))/1e9
		if math.Abs(theta-m.T) > 1e-6 || math.Abs(delta-m.D) > 1e-6 {
			t.Errorf("%s: θ %f, δ %f; want %f, %f", id, theta, delta, m.T, m.D)
		}
	}
}

// ntpTime reads seconds of era 0 with decimals.
func ntpTime(t *testing.T, text string) wire.NTPTime {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	r.Mul(r, big.NewRat(1<<32, 1))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	return wire.NTPTime(n.Uint64())
}

// phi of each line is ((t2−t1)+(t3−t4))/2 in the author's float64: 0.21 µs at most, which
// float64 has for its last digits there.
func TestCorpusFourStamps(t *testing.T) {
	n := 0
	for _, line := range lines(t, "ntp-timestamps/t1t2t3t4-crlf.csv") {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 5 {
			continue
		}
		var at [4]int64
		for i, text := range f[:4] {
			unix, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			at[i] = wire.NTPTimeOf(unix).UnixNanos(unix) // there and back is the same
			if at[i] != unix {
				t.Fatalf("%s is read back as %d", text, at[i])
			}
		}
		phi, err := strconv.ParseFloat(f[4], 64)
		if got := float64((at[1]-at[0])+(at[2]-at[3])) / 2e9; err != nil || math.Abs(got-phi) > 2.2e-7 {
			t.Errorf("line %q: %.9f", line, got)
		}
		n++
	}
	if n != 1528 {
		t.Errorf("%d lines, want 1528", n)
	}
}
