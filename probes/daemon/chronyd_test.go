package daemon

import (
	"encoding/csv"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/facebook/time/ntp/chrony"

	"github.com/tickmark/tickmark/datasets"
)

// The bound is the sum that the manual of chronyc and ClockBound's tests have.
func TestChronyBoundIsItsManuals(t *testing.T) {
	for _, c := range []struct {
		name string
		in   chrony.Tracking
		want time.Duration
	}{
		// chronyc(1), "tracking": system time 6.523 µs, root dispersion 1100.737 µs, root
		// delay 13639.022 µs: 7926.771 µs.
		{"the manual's example", chrony.Tracking{CurrentCorrection: 0.000006523, RootDelay: 0.013639022, RootDispersion: 0.001100737}, 7_926_771},
		{"the same, fast", chrony.Tracking{CurrentCorrection: -0.000006523, RootDelay: 0.013639022, RootDispersion: 0.001100737}, 7_926_771},
		// clock-bound-d's own test: delay 1 s, dispersion 2 s, correction −1 s.
		{"ClockBound's test", chrony.Tracking{CurrentCorrection: -1, RootDelay: 1, RootDispersion: 2}, 3_500_000_000},
	} {
		var got datasets.Claim
		new(chronyd).track(&got, &c.in)
		checkCell(t, c.name, got.Bound, c.want)
		checkCell(t, c.name, got.Offset, time.Duration(math.Round(c.in.CurrentCorrection*1e9)))
	}
}

func TestChronyStatuses(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name   string
		in     chrony.Tracking
		poll   time.Duration
		status datasets.ClaimStatus
		bound  bool
		why    string
	}{
		{"synchronised", chrony.Tracking{RefID: 0xC6336403, RefTime: now.Add(-63 * time.Second)}, 16 * time.Second, datasets.Synchronised, true, ""},
		{"leap 3", chrony.Tracking{LeapStatus: 3, RootDelay: 1, RootDispersion: 1}, 0, datasets.Unsynchronised, false, ""},
		{"local stratum", chrony.Tracking{RefID: localReference, Stratum: 10, RefTime: now}, 0, datasets.FreeRunning, false, ""},
		{"8 polls", chrony.Tracking{RefID: 1, RefTime: now.Add(-129 * time.Second)}, 16 * time.Second, datasets.Stale, true, "no update for 8 polls of its source"},
		{"a negative dispersion", chrony.Tracking{RefID: 1, RootDispersion: -1, RefTime: now}, 0, datasets.Synchronised, false, ""},
		{"no number", chrony.Tracking{RefID: 1, CurrentCorrection: math.Inf(1), RefTime: now}, 0, datasets.Synchronised, false, ""},
	} {
		got := datasets.Claim{Source: "chronyd", Wall: datasets.StampTime(now, datasets.Local, datasets.User)}
		new(chronyd).track(&got, &c.in)
		outdate(&got, c.poll)
		if _, ok := got.Bound.Value(); ok != c.bound || got.Status != c.status || got.Why != c.why {
			t.Errorf("%s: %s, bound %v, why %q: want %s, %v, %q", c.name, got.Status, ok, got.Why, c.status, c.bound, c.why)
		}
		checkClaim(t, &got)
	}
}

func goodChronyd() *fakeChronyd {
	return &fakeChronyd{
		private: true,
		tracking: chronyTracking{
			refID: 0xC6336403, address: netip.MustParseAddr("198.51.100.3"), stratum: 2, refSeconds: time.Now().Unix() - 1,
			correction: 27.941e-6, lastOffset: 59.864e-6, rmsOffset: 68.066e-6, freq: 11.064, residFreq: 0.352, skew: 15.086,
			rootDelay: 4.070942e-3, rootDispersion: 125.521e-6, lastUpdateInterval: 1,
		},
		sources: []chronyPeer{
			{address: netip.MustParseAddr("198.51.100.1"), stratum: 1, state: 5, reach: 0o375, sinceSample: 1, orig: 2.441404e-3, latest: 2.381698e-3, err: 9.125562e-3, samples: 6, skew: 3, estimate: 2.4e-3, packetOffset: -2.441404e-3, flags: 0x83df},
			{address: netip.MustParseAddr("198.51.100.3"), stratum: 1, state: 0, reach: 0o377, sinceSample: 1, orig: 0.388753e-3, latest: 0.328892e-3, err: 2.035594e-3, samples: 6, skew: 3, estimate: 0.3e-3, packetOffset: -0.388753e-3, flags: 0x43ff},
			{address: netip.MustParseAddr("198.51.100.77"), state: 1, sinceSample: never},
		},
	}
}

// Over the wire, each field comes to its place with its sign.
func TestChronydOverTheWire(t *testing.T) {
	f := goodChronyd()
	d, err := newChronyd(fakeUDP(t, honest(f.answer)).place)
	check(t, err)
	r, err := ask(t, d)
	check(t, err)
	check(t, d.Close())
	var names []string
	for _, c := range r.Claims {
		names = append(names, c.Source+" "+string(c.Status))
	}
	want := "chronyd synchronised, chronyd 198.51.100.1 candidate, chronyd 198.51.100.3 selected, chronyd 198.51.100.77 unreachable"
	if got := strings.Join(names, ", "); got != want {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	c := r.Claims[0]
	checkCell(t, "offset", c.Offset, 27_941*time.Nanosecond)
	checkCell(t, "bound", c.Bound, (27_941+125_521+2_035_471)*time.Nanosecond)
	checkCell(t, "frequency", c.Frequency, datasets.PPB(-11_064)) // it gains: chronyc says "fast"
	checkCell(t, "skew", c.Skew, datasets.PPB(15_086))
	checkCell(t, "stratum", c.Stratum, 2)
	if c.Reference != "198.51.100.3" {
		t.Errorf("reference %q", c.Reference)
	}
	checkFacts(t, c, map[string]string{"sources": "3", "ref_id": "C6336403"})
	s := r.Claims[2]
	checkCell(t, "source's offset", s.Offset, 27_941*time.Nanosecond-300*time.Microsecond)
	checkCell(t, "source's bound", s.Bound, (300_000-27_941+2_035_594)*time.Nanosecond)
	checkCell(t, "source's age", s.Age, time.Second)
	checkFacts(t, s, map[string]string{"reach": "377", "tx_timestamping": "kernel", "total_rx": "159", "select_state": "*", "ntp_tests": "1111111111", "packet_precision": "-25", "interleaved": "true", "authenticated": "false"})
	checkFacts(t, r.Claims[1], map[string]string{"ntp_tests": "1111011111", "interleaved": "false", "authenticated": "true"})
	checkCell(t, "offset of one that never answered", r.Claims[3].Offset, nil)
	checkCell(t, "age of one that never answered", r.Claims[3].Age, nil)
}

func checkFacts(t *testing.T, c *datasets.Claim, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if got, ok := c.Fact(key); got != value {
			t.Errorf("%s: %s %q (there: %v), want %q", c.Source, key, got, ok, value)
		}
	}
}

// A chronyd that keeps the private answers to its socket still tells the rest, and what
// is lost is said, with what to do.
func TestChronydTellsLessOverUDP(t *testing.T) {
	f := goodChronyd()
	f.private = false
	d, err := newChronyd(fakeUDP(t, honest(f.answer)).place)
	check(t, err)
	defer d.Close()
	for range 2 {
		r, err := ask(t, d)
		check(t, err)
		if len(r.Claims) != 4 || !strings.Contains(r.lost, "neither ntpdata nor selectdata") {
			t.Errorf("%d claims, lost %q", len(r.Claims), r.lost)
		}
		if _, ok := r.Claims[2].Fact("tx_timestamping"); ok {
			t.Error("ntpdata was told")
		}
		if _, ok := r.Claims[2].Fact("missing"); ok {
			t.Error("what is lost is called missing as well")
		}
	}
}

func TestChronydLosesASourceBetweenTwoQuestions(t *testing.T) {
	f := goodChronyd()
	calls := 0
	d, err := newChronyd(fakeUDP(t, honest(func(request []byte) []byte {
		if request[cmdmonCommand+1] == reqSourceStats {
			if calls++; calls == 1 { // another source's statistics
				other := f.sources[2]
				return chronyReply(request, rpySourceStats, 0, other.stats())
			}
		}
		return f.answer(request)
	})).place)
	check(t, err)
	defer d.Close()
	r, err := ask(t, d)
	check(t, err)
	if len(r.Claims) != 3 || r.Claims[1].Source != "chronyd 198.51.100.3" {
		t.Errorf("%d claims: %v", len(r.Claims), r.Claims)
	}
}

// What chronyc printed in the laboratory is what a claim is made of: the same numbers
// through our wire give chronyc's offset, bound and states.
func TestChronydAgreesWithChronycsRecordings(t *testing.T) {
	corpus := os.Getenv("TICKMARK_CORPUS")
	if corpus == "" {
		t.Skip("needs TICKMARK_CORPUS, a folder of recordings of other tools")
	}
	row := readCSV(t, filepath.Join(corpus, "chronyc", "lab", "tracking.csv"))[0]
	number := func(i int) float64 {
		f, err := strconv.ParseFloat(row[i], 64)
		check(t, err)
		return f
	}
	f := &fakeChronyd{tracking: chronyTracking{
		refID: 0xC6336403, address: netip.MustParseAddr(row[1]), stratum: uint16(number(2)), refSeconds: int64(number(3)),
		correction: number(4), lastOffset: number(5), rmsOffset: number(6), freq: number(7), residFreq: number(8),
		skew: number(9), rootDelay: number(10), rootDispersion: number(11), lastUpdateInterval: number(12),
	}}
	for _, s := range readCSV(t, filepath.Join(corpus, "chronyc", "lab", "sources.csv")) {
		f.sources = append(f.sources, peerOf(t, s))
	}
	d, err := newChronyd(fakeUDP(t, honest(f.answer)).place)
	check(t, err)
	defer d.Close()
	r, err := ask(t, d)
	check(t, err)
	c := r.Claims[0]
	checkCell(t, "offset", c.Offset, 27_941*time.Nanosecond)     // "0.000027… seconds slow"
	checkCell(t, "frequency", c.Frequency, datasets.PPB(-11064)) // "11.064 ppm fast"
	checkCell(t, "bound", c.Bound, time.Duration(27_941+125_521+4_070_942/2))
	var states []string
	for _, c := range r.Claims[1:] {
		states = append(states, string(c.Status))
	}
	if got := strings.Join(states, " "); got != "candidate selected unreachable" { // chronyc: - * ?
		t.Errorf("states %s", got)
	}
}

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	file, err := os.Open(path)
	check(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	check(t, err)
	return rows
}

// peerOf reads a line of "chronyc -c sources".
func peerOf(t *testing.T, row []string) chronyPeer {
	t.Helper()
	var n [10]float64
	for i := 3; i < 10; i++ {
		base, text := 10, row[i]
		if i == 5 {
			base = 8
		}
		if v, err := strconv.ParseInt(text, base, 64); err == nil {
			n[i] = float64(v)
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		check(t, err)
		n[i] = v
	}
	return chronyPeer{
		address: netip.MustParseAddr(row[2]), state: uint16(strings.Index("*?x~+-", row[1])), stratum: uint16(n[3]), poll: int16(n[4]),
		reach: uint16(n[5]), sinceSample: uint32(n[6]), latest: n[7], orig: n[8], err: n[9],
	}
}

// FuzzChrony: any bytes decode to the reply that was asked for or to an error, and make
// claims that a trace can hold.
func FuzzChrony(f *testing.F) {
	good := goodChronyd()
	for _, command := range []uint16{reqTracking, reqNSources, reqSourceData, reqSourceStats, reqSelectData, reqNTPData} {
		request := make([]byte, 40)
		request[cmdmonCommand+1] = byte(command)
		if command == reqNTPData {
			copy(request[20:], []byte{198, 51, 100, 1})
		}
		f.Add(good.answer(request))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		tracking, err := decodeChrony[*chrony.ReplyTracking](reply)
		if err != nil {
			tracking = &chrony.ReplyTracking{}
		}
		c := datasets.Claim{Source: "chronyd"}
		new(chronyd).track(&c, &tracking.Tracking)
		checkClaim(t, &c)
		s := chronySource{data: &chrony.SourceData{IPAddr: &chrony.IPAddr{}}, stats: &chrony.SourceStats{IPAddr: &chrony.IPAddr{}}}
		if a, err := decodeChrony[*chrony.ReplySourceData](reply); err == nil {
			s.data = &a.SourceData
		}
		if a, err := decodeChrony[*chrony.ReplySourceStats](reply); err == nil {
			s.stats = &a.SourceStats
		}
		if a, err := decodeChrony[*chrony.ReplySelectData](reply); err == nil {
			s.selection = &a.SelectData
		}
		if a, err := decodeChrony[*chrony.ReplyNTPData](reply); err == nil {
			s.packets = &chrony.NTPData2{NTPData: a.NTPData}
		}
		if a, err := decodeChrony[*chrony.ReplyNTPData2](reply); err == nil {
			s.packets = &a.NTPData2
		}
		source := datasets.Claim{Source: "chronyd " + s.name(), Status: s.status()}
		s.fill(&source, &tracking.Tracking)
		checkClaim(t, &source)
	})
}
