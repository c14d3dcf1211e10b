package daemon

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	ptp "github.com/facebook/time/ptp/protocol"

	"github.com/tickmark/tickmark/datasets"
)

func newFakePtp4l(t *testing.T, act behaviour) (*fake, Daemon) {
	t.Helper()
	f := fakeUnix(t, filepath.Join(socketFolder(t), "ptp4l"), act)
	d, err := newPtp4l(f.place)
	check(t, err)
	t.Cleanup(func() { check(t, d.Close()) })
	return f, d
}

func TestPtp4lOverTheWire(t *testing.T) {
	f := goodPtp4l()
	f.status.IngressTimeNS = time.Now().Add(-time.Second).UnixNano()
	_, d := newFakePtp4l(t, honest(f.answer))
	r, err := ask(t, d)
	check(t, err)
	if len(r.Claims) != 2 || r.Claims[0].Source != "ptp4l" || r.Claims[1].Source != "ptp4l port 1" {
		t.Fatalf("%v", r.Claims)
	}
	c, p := r.Claims[0], r.Claims[1]
	if c.Status != datasets.Synchronised || p.Status != datasets.Synchronised || c.Reference != "8ee8ce.fffe.c0bfa8" {
		t.Errorf("%s, port %s, of %s", c.Status, p.Status, c.Reference)
	}
	checkCell(t, "offset", c.Offset, -869*time.Nanosecond) // 869 ns ahead of its master: fast
	checkCell(t, "bound", c.Bound, nil)
	if age, ok := c.Age.Value(); !ok || age < time.Second || age > patience {
		t.Errorf("age %v, %v: the Sync came a second ago", age, ok)
	}
	checkFacts(t, c, map[string]string{"domain_number": "24", "mean_path_delay": "1860", "slave_only": "1", "time_source": "0xa0", "current_utc_offset_valid": "0"})
	checkFacts(t, p, map[string]string{"port_state": "SLAVE", "rx_sync": "142", "tx_delay_req": "72", "timestamping": "SOFTWARE", "interface": "vc"})
	if strings.Contains(c.Facts, "missing") || strings.Contains(c.Facts, "strays") {
		t.Errorf("%s", c.Facts)
	}
}

// Each fact is what pmc printed of the same data sets.
func TestPtp4lFactsAreWhatPmcPrints(t *testing.T) {
	corpus := os.Getenv("TICKMARK_CORPUS")
	if corpus == "" {
		t.Skip("needs TICKMARK_CORPUS, a folder of recordings of other tools")
	}
	text, err := os.ReadFile(filepath.Join(corpus, "pmc", "lab-get-all.txt"))
	check(t, err)
	f := goodPtp4l()
	f.ports[0].PortState = ptp.PortStateUncalibrated
	_, d := newFakePtp4l(t, honest(f.answer))
	r, err := ask(t, d)
	check(t, err)
	printed := pmcValues(string(text))
	for _, c := range r.Claims {
		for key, value := range c.AllFacts() {
			want, ok := printed[key]
			if strings.HasPrefix(key, "rx_") || strings.HasPrefix(key, "tx_") || key == "timestamping" || key == "interface" {
				continue // the fake counts otherwise, and nobody asked for these
			}
			if !ok || !sameValue(value, want) {
				t.Errorf("%s: %q, pmc printed %q (%v)", key, value, want, ok)
			}
		}
	}
}

// pmcValues reads what pmc prints, with its names turned into ours.
func pmcValues(text string) map[string]string {
	values := map[string]string{}
	section := ""
	for line := range strings.Lines(text) {
		if head := regexp.MustCompile(`RESPONSE MANAGEMENT (\S+)`).FindStringSubmatch(line); head != nil {
			section = head[1]
		}
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "\t\t") && len(fields) == 2 {
			values[pmcName(section, fields[0])] = fields[1]
		}
	}
	return values
}

// pmcName turns gm.ClockClass into gm_clock_class, rx_Delay_Req into rx_delay_req.
func pmcName(section, name string) string {
	name = strings.ReplaceAll(name, ".", "_")
	name = regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(name, "${1}_${2}")
	name = strings.ToLower(name)
	if section == "PORT_PROPERTIES_NP" && name == "port_state" {
		return "properties_port_state"
	}
	return name
}

// sameValue compares 1860.0 with 1860, true with 1 no: pmc writes each in one way.
func sameValue(ours, pmcs string) bool {
	pmcs = strings.TrimSuffix(pmcs, ".0")
	if pmcs == "+0.000000000" { // a rate, of which ours is the number on the wire
		pmcs = "0"
	}
	return ours == pmcs || "0x"+strings.TrimLeft(strings.TrimPrefix(pmcs, "0x"), "0") == ours
}

func TestPtp4lIsFoundInEveryDomain(t *testing.T) {
	for _, c := range []struct{ domain, sdo uint8 }{{0, 0}, {4, 0}, {24, 0}, {127, 0}, {0, 1}, {20, 1}} {
		f := goodPtp4l()
		f.domain, f.sdo = c.domain, c.sdo
		_, d := newFakePtp4l(t, honest(f.answer))
		r, err := ask(t, d)
		if err != nil || len(r.Claims) != 2 {
			t.Errorf("domain %d, transportSpecific %d: %v", c.domain, c.sdo, err)
		}
	}
}

func TestPtp4lStatuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fakePtp4l)
		want   datasets.ClaimStatus
		offset any
		why    string
	}{
		{"uncalibrated", func(f *fakePtp4l) { f.ports[0].PortState = ptp.PortStateUncalibrated }, datasets.Unsynchronised, -869 * time.Nanosecond, ""},
		{"listening", func(f *fakePtp4l) { f.ports[0].PortState = ptp.PortStateListening; f.status.GMPresent = 0 }, datasets.Unsynchronised, nil, ""},
		{"grandmaster itself", func(f *fakePtp4l) { f.ports[0].PortState = ptp.PortStateMaster; f.status.GMPresent = 0 }, datasets.FreeRunning, nil, ""},
		{"boundary clock", func(f *fakePtp4l) {
			f.own.NumberPorts = 2
			second := f.ports[0]
			second.PortState, second.PortIdentity.PortNumber = ptp.PortStateMaster, 2
			f.ports = append(f.ports, second)
		}, datasets.Synchronised, -869 * time.Nanosecond, ""},
		{"master in holdover", func(f *fakePtp4l) { f.parent.GrandmasterClockQuality.ClockClass = 7 }, datasets.Holdover, -869 * time.Nanosecond, ""},
		{"master out of it", func(f *fakePtp4l) { f.parent.GrandmasterClockQuality.ClockClass = 52 }, datasets.Unsynchronised, -869 * time.Nanosecond, "the grandmaster is out of its holdover specification"},
		{"TAI", func(f *fakePtp4l) { f.status.MasterOffsetNS = -36_999_995_000 }, datasets.Synchronised, 36_999_995 * time.Microsecond, "the offset looks like TAI against UTC"},
		{"not TAI", func(f *fakePtp4l) { f.status.MasterOffsetNS = -36_500_000_000 }, datasets.Synchronised, 36_500 * time.Millisecond, ""},
		{"no offset that could be", func(f *fakePtp4l) { f.status.MasterOffsetNS = math.MinInt64 }, datasets.Synchronised, nil, ""},
		{"an old version", func(f *fakePtp4l) { f.old = true }, datasets.Synchronised, -869 * time.Nanosecond, ""},
	} {
		f := goodPtp4l()
		c.change(f)
		_, d := newFakePtp4l(t, honest(f.answer))
		r, err := ask(t, d)
		check(t, err)
		got := r.Claims[0]
		if got.Status != c.want || got.Why != c.why || len(r.Claims) != 1+len(f.ports) {
			t.Errorf("%s: %s, %q, %d claims: want %s, %q", c.name, got.Status, got.Why, len(r.Claims), c.want, c.why)
		}
		checkCell(t, c.name, got.Offset, c.offset)
	}
}

// FuzzManagement: any bytes decode to the data set that was asked for or to an error,
// and make claims that a trace can hold.
func FuzzManagement(f *testing.F) {
	good := goodPtp4l()
	m := manager{domain: good.domain}
	var questions [][]byte
	for _, id := range []ptp.ManagementID{
		ptp.IDDefaultDataSet, ptp.IDCurrentDataSet, ptp.IDParentDataSet, idTimeProperties, ptp.IDTimeStatusNP,
		idPortDataSet, ptp.IDPortStatsNP, ptp.IDPortPropertiesNP, 0x7777,
	} {
		q, err := m.question(id, ptp.PortIdentity{ClockIdentity: 1, PortNumber: 1})
		if err != nil {
			f.Fatal(err)
		}
		questions = append(questions, q)
		f.Add(good.answer(q))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		for _, q := range questions {
			if answersManagement(q, reply) && len(reply) < mgmtData {
				t.Error("too short for an answer")
			}
		}
		s := ptpState{own: &good.own, current: &good.current, parent: &good.parent, scale: &good.scale, status: &good.status}
		decoded(reply, &s.own)
		decoded(reply, &s.current)
		decoded(reply, &s.parent)
		decoded(reply, &s.scale)
		decoded(reply, &s.status)
		var port *portDataSet
		var stats *ptp.PortStatsNPTLV
		var properties *ptp.PortPropertiesNPTLV
		r := reading()
		p := r.claim("ptp4l port 1", datasets.Unsynchronised)
		if decoded(reply, &port) {
			p.Status = portStatus(port.PortState)
			s.states = []ptp.PortState{port.PortState}
			addPort(p, port)
		}
		if decoded(reply, &stats) {
			addCounts(p, &stats.PortStats)
		}
		if decoded(reply, &properties) {
			addProperties(p, properties)
		}
		s.fill(r.claim("ptp4l", ""))
		for _, c := range r.Claims {
			checkClaim(t, c)
		}
	})
}

func decoded[T any](reply []byte, into **T) bool {
	set, err := decodeManagement[T](reply)
	if err != nil {
		return false
	}
	*into = set
	return true
}
