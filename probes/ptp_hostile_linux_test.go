package probes

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/wire"
	"github.com/tickmark/tickmark/probes/netlab"
)

// fakeCase is a master and what is made of it.
type fakeCase struct {
	name    string
	mode    string
	every   time.Duration // between attempts; 0 is 20 ms
	master  *fakeMaster
	outcome datasets.Outcome // of all rows but the first
	why     string           // within Why
	check   func(t *testing.T, m *fakeMaster, tape *ntpTape)
}

// only changes messages of a kind.
func only(kind wire.PTPType, change func(b []byte)) func(b []byte) [][]byte {
	return func(b []byte) [][]byte {
		if wire.PTPType(b[0]&15) == kind {
			change(b)
		}
		return [][]byte{b}
	}
}

// without loses messages of a kind.
func without(kind wire.PTPType) func(b []byte) [][]byte {
	return func(b []byte) [][]byte {
		if wire.PTPType(b[0]&15) == kind {
			return nil
		}
		return [][]byte{b}
	}
}

func earlier(b []byte) { // by 3 s
	binary.BigEndian.PutUint32(b[36:], binary.BigEndian.Uint32(b[36:])-3)
}

func later(b []byte) { binary.BigEndian.PutUint32(b[36:], binary.BigEndian.Uint32(b[36:])+3) }

func nearZero(t *testing.T, _ *fakeMaster, tape *ntpTape) {
	t.Helper()
	for _, e := range tape.rows {
		theta, ok := e.Offset()
		delay, _ := e.Delay()
		if e.Outcome == datasets.Replied && (!ok || theta.Abs() > delay/2+1 || e.Reference != "010203.0405.060708") {
			t.Errorf("attempt %d: θ %v of a clock against itself, δ %v, reference %q", e.Seq, theta, delay, e.Reference)
		}
	}
}

func corrections(out, back time.Duration) func(*testing.T, *fakeMaster, *ntpTape) {
	return func(t *testing.T, _ *fakeMaster, tape *ntpTape) {
		t.Helper()
		for _, e := range tape.rows {
			if e.CorrectionOut != datasets.Some(out) || e.CorrectionBack != datasets.Some(back) {
				t.Errorf("attempt %d: corrections %v %v, want %v %v", e.Seq, e.CorrectionOut, e.CorrectionBack, out, back)
			}
		}
	}
}

func counted(key string) func(*testing.T, *fakeMaster, *ntpTape) {
	return func(t *testing.T, _ *fakeMaster, tape *ntpTape) {
		t.Helper()
		if n, err := strconv.Atoi(tape.trailer[key]); err != nil || n == 0 {
			t.Errorf("%s %q: want some", key, tape.trailer[key])
		}
	}
}

func unicastCases() []fakeCase {
	held := func(b []byte) [][]byte { // units of 2⁻¹⁶ ns
		ns := map[wire.PTPType]uint64{wire.Sync: 100, wire.FollowUp: 20, wire.DelayResp: 300}[wire.PTPType(b[0]&15)]
		binary.BigEndian.PutUint64(b[8:], ns<<16)
		return [][]byte{b}
	}
	return []fakeCase{
		{name: "two steps", master: &fakeMaster{}, check: nearZero},
		{name: "one step", master: &fakeMaster{oneStep: true}, check: nearZero},
		{name: "two steps held up", master: &fakeMaster{change: held}, check: corrections(300, 120)},
		{name: "one step held up", master: &fakeMaster{oneStep: true, change: held}, check: corrections(300, 100)},
		{name: "held up too long", master: &fakeMaster{change: only(wire.FollowUp, func(b []byte) {
			binary.BigEndian.PutUint64(b[8:], 1<<63-1)
		})}, outcome: datasets.Invalid, why: "does not fit"},
		{name: "another number", master: &fakeMaster{change: only(wire.DelayResp, func(b []byte) { b[31]++ })}, outcome: datasets.TimedOut, check: counted("strays")},
		{name: "for another port", master: &fakeMaster{change: only(wire.DelayResp, func(b []byte) { b[53]++ })}, outcome: datasets.TimedOut, check: counted("strays")},
		{name: "from another clock", master: &fakeMaster{change: only(wire.DelayResp, func(b []byte) { b[20]++ })}, outcome: datasets.TimedOut, check: counted("strays")},
		{name: "another domain", master: &fakeMaster{change: func(b []byte) [][]byte { b[4] = 1; return [][]byte{b} }}, outcome: datasets.TimedOut, check: counted("strays")},
		{name: "version 1", master: &fakeMaster{change: func(b []byte) [][]byte { b[1] = 1; return [][]byte{b} }}, outcome: datasets.TimedOut, check: counted("strays")},
		{name: "a Follow_Up of another Sync", master: &fakeMaster{change: only(wire.FollowUp, func(b []byte) { b[30]++ })}, outcome: datasets.TimedOut},
		{name: "no Sync after the grant", master: &fakeMaster{change: without(wire.Sync)}, outcome: datasets.TimedOut},
		{name: "no answer at all", master: &fakeMaster{change: func([]byte) [][]byte { return nil }}, outcome: datasets.TimedOut},
		{name: "no Delay_Resp", master: &fakeMaster{change: without(wire.DelayResp)}, outcome: datasets.TimedOut},
		{
			name: "refused", master: &fakeMaster{denied: func(wire.PTPType, int8) bool { return true }, change: without(wire.Sync)},
			outcome: datasets.Refused, check: counted("denied"),
		},
		{
			name: "refused below 1 s", master: &fakeMaster{denied: func(_ wire.PTPType, interval int8) bool { return interval < 0 }},
			check: func(t *testing.T, _ *fakeMaster, tape *ntpTape) {
				t.Helper()
				if want := "Announce every 2^0 s, Sync every 2^0 s, Delay_Resp every 2^0 s"; tape.trailer["sessions"] != want {
					t.Errorf("sessions %q, want %q", tape.trailer["sessions"], want)
				}
			},
		},
		{
			name: "garbage behind the grants", master: &fakeMaster{change: func(b []byte) [][]byte {
				if wire.PTPType(b[0]&15) == wire.Signaling {
					b = append(b, 0x20, 0x04, 0, 2, 1, 2, 0, 5, 0xff, 0xff, 1)
				}
				return [][]byte{b, {}, b[:7], make([]byte, 44), []byte(strings.Repeat("\xff", 1500))}
			}}, check: nearZero,
		},
		{name: "a flood", master: &fakeMaster{flood: true}, check: nearZero},
		{name: "T2 too early", master: &fakeMaster{change: only(wire.DelayResp, earlier)}, outcome: datasets.Invalid, why: "path delay is negative (-1.4"},
		{name: "T3 too late", master: &fakeMaster{change: only(wire.FollowUp, later)}, outcome: datasets.Invalid, why: "path delay is negative"},
		{name: "no T2", master: &fakeMaster{change: only(wire.DelayResp, func(b []byte) { clear(b[34:44]) })}, outcome: datasets.Invalid, why: "did not stamp"},
		{name: "a second of 2³⁰ ns", master: &fakeMaster{change: only(wire.FollowUp, func(b []byte) { b[40] = 0x40 })}, outcome: datasets.Invalid, why: "did not stamp"},
		{
			name: "cancelled", every: 500 * time.Millisecond, master: &fakeMaster{dead: true}, check: func(t *testing.T, m *fakeMaster, _ *ntpTape) {
				t.Helper()
				if m.heard(tlvAck) != 3 || m.heard(tlvRequest) < 6 {
					t.Errorf("%d acknowledgements, %d requests", m.heard(tlvAck), m.heard(tlvRequest))
				}
			},
		},
	}
}

func simpleCases() []fakeCase {
	return []fakeCase{
		{name: "sound", mode: "sptp", master: &fakeMaster{}, check: nearZero},
		{name: "by the user", mode: "sptp,stamps=user", master: &fakeMaster{}, check: nearZero},
		{name: "by the user", mode: "unicast,stamps=user", master: &fakeMaster{}, check: nearZero},
		{name: "without Announce", mode: "sptp", master: &fakeMaster{change: without(wire.Announce)}, outcome: datasets.TimedOut},
		{name: "without Sync", mode: "sptp", master: &fakeMaster{change: without(wire.Sync)}, outcome: datasets.TimedOut},
		{name: "another number", mode: "sptp", master: &fakeMaster{change: only(wire.Sync, func(b []byte) { b[31] += 9 })}, outcome: datasets.TimedOut, check: counted("strays")},
		{name: "two servers", mode: "sptp", master: &fakeMaster{change: only(wire.Announce, func(b []byte) { b[27]++ })}, outcome: datasets.TimedOut},
		{name: "T2 too early", mode: "sptp", master: &fakeMaster{change: only(wire.Sync, earlier)}, outcome: datasets.Invalid, why: "path delay is negative"},
		{name: "no T3", mode: "sptp", master: &fakeMaster{change: only(wire.Announce, func(b []byte) { clear(b[34:44]) })}, outcome: datasets.Invalid, why: "did not stamp"},
		{name: "37 s, and says so", mode: "sptp", master: &fakeMaster{change: func(b []byte) [][]byte {
			binary.BigEndian.PutUint32(b[36:], binary.BigEndian.Uint32(b[36:])+37)
			if wire.PTPType(b[0]&15) == wire.Announce {
				b[7] |= byte(wire.FlagUTCOffsetValid | wire.FlagPTPTimescale)
				b[45] = 37
			}
			return [][]byte{b}
		}}, check: func(t *testing.T, _ *fakeMaster, tape *ntpTape) {
			t.Helper()
			for _, e := range tape.rows {
				if theta, _ := e.Offset(); theta.Abs() > time.Second || e.UTCOffset != datasets.Some(37*time.Second) {
					t.Errorf("attempt %d: θ %v, UTC offset %v", e.Seq, theta, e.UTCOffset)
				}
			}
		}},
	}
}

// Whatever a master sends, the recording goes on, says what came and leaves its sessions.
func TestHostileMasters(t *testing.T) {
	lab := netlab.New(t)
	for _, c := range append(unicastCases(), simpleCases()...) {
		if c.mode == "" {
			c.mode = "unicast"
		}
		t.Run(c.mode+" "+c.name, func(t *testing.T) { c.run(t, lab) })
	}
}

// Recordings of masters that answer, that do not and that flood, and one that is
// stopped in the middle, leave no goroutine and no file behind.
func TestMastersLeaveNothingBehind(t *testing.T) {
	lab := netlab.New(t)
	stopped := func(text string, f *fakeMaster) {
		m := startFakeMaster(t, lab.Server, f)
		defer m.stop()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		n := 0
		tape := &ntpTape{each: func(*datasets.Exchange) error {
			if n++; n == 2 {
				stop()
			}
			return nil
		}}
		p, plan := parseNTP(t, text), Plan{Interval: 20 * time.Millisecond, Listen: datasets.Some(200 * time.Millisecond)}
		if err := lab.Client.Do(func() error { return p.Run(ctx, lab.Server.Addr.String(), plan, tape) }); err != nil || tape.trailer == nil {
			t.Errorf("%s: %v, trailer %v", text, err, tape.trailer)
		}
	}
	releases(t, func() {
		for _, text := range []string{"ptp:mode=unicast", "ptp:mode=sptp", "ptp"} {
			stopped(text, &fakeMaster{})
			stopped(text, &fakeMaster{flood: true})
			stopped(text, &fakeMaster{change: func([]byte) [][]byte { return nil }})
		}
	})
}

func (c *fakeCase) run(t *testing.T, lab *netlab.Pair) {
	t.Helper()
	m := startFakeMaster(t, lab.Server, c.master)
	defer m.stop()
	tape := &ntpTape{}
	listen := 200 * time.Millisecond
	if c.outcome == datasets.Replied || c.outcome == datasets.Invalid {
		listen = 5 * time.Second
	}
	plan := Plan{Count: 4, Interval: max(c.every, 20*time.Millisecond), Listen: datasets.Some(listen)}
	p := parseNTP(t, "ptp:mode="+c.mode)
	if err := lab.Client.Do(func() error { return p.Run(t.Context(), lab.Server.Addr.String(), plan, tape) }); err != nil {
		t.Fatal(err)
	}
	if len(tape.rows) != 4 {
		t.Fatalf("%d rows of 4; trailer %v", len(tape.rows), tape.trailer)
	}
	for _, e := range tape.rows {
		again := c.outcome == datasets.Refused && e.Outcome == datasets.TimedOut // it is asked once a second
		if e.Outcome != c.outcome && !again || !strings.Contains(e.Why, c.why) || (c.why == "") != (e.Why == "") {
			t.Errorf("attempt %d: %v %q, want %v %q", e.Seq, e.Outcome, e.Why, c.outcome, c.why)
		}
	}
	if c.check != nil {
		c.check(t, m, tape)
	}
	if c.mode == "unicast" && c.outcome == datasets.Replied {
		m.await(t, tlvCancel, 3)
	}
}

// await returns when the master was sent n TLVs of a type.
func (f *fakeMaster) await(t *testing.T, kind uint16, n int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); f.heard(kind) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d TLVs of type %d, want %d", f.heard(kind), kind, n)
		}
	}
}

// One exchange of SPTP over a veth, client and server in one process.
func BenchmarkPTPSimple(b *testing.B) {
	lab := netlab.New(b)
	startFakeMaster(b, lab.Server, &fakeMaster{})
	p := parseNTP(b, "ptp:mode=sptp")
	seen := &fullRate{}
	b.ReportAllocs()
	b.ResetTimer()
	cpu, _ := cpuTime()
	if err := lab.Client.Do(func() error { return p.Run(b.Context(), lab.Server.Addr.String(), nanoPlan(int64(b.N)), seen) }); err != nil {
		b.Fatal(err)
	}
	after, _ := cpuTime()
	b.ReportMetric(float64((after-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
}
