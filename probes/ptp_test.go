package probes

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/datasets/wire"
)

func TestPTPSpec(t *testing.T) {
	p, canonical, err := Probes().Parse("probe", "ptp")
	if err != nil || canonical != "ptp:delay=e2e,domain=0,mode=auto,server-stamps=auto,stamps=auto,utc-offset=valid" || p.Kind() != datasets.Exchanges || !p.TakesTarget() {
		t.Errorf("%v %q %v", p, canonical, err)
	}
	for text, want := range map[string]string{
		"ptp:delay=p2p":         "delay=p2p measures one link",
		"ptp:delay=x":           `delay "x": want e2e`,
		"ptp:mode=multicast":    `mode "multicast": want auto, unicast, sptp or listen`,
		"ptp:domain=256":        `domain "256": want 0 to 255`,
		"ptp:stamps=nic":        `stamps "nic": want auto, user, kernel or hardware`,
		"ptp:server-stamps=nic": `server-stamps "nic": want auto, user, kernel or hardware`,
		"ptp:utc-offset=37":     `utc-offset "37": want valid, announced or a time such as 37s`,
		"ptp:utc-offset=25h":    `utc-offset "25h": want less than a day`,
	} {
		var usage *spec.UsageError
		if _, _, err := Probes().Parse("probe", text); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestPTPTargetHasNoPort(t *testing.T) {
	var usage *spec.UsageError
	err := parseNTP(t, "ptp").Run(t.Context(), "192.0.2.1:319", Plan{}, &ntpTape{})
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), `target "192.0.2.1:319"`) {
		t.Error(err)
	}
}

func TestLogInterval(t *testing.T) {
	for interval, want := range map[time.Duration]int8{
		time.Nanosecond: -7, 7812500: -7, 15625 * time.Microsecond: -6, 100 * time.Millisecond: -4,
		125 * time.Millisecond: -3, time.Second: 0, 1999 * time.Millisecond: 0, 2 * time.Second: 1, 16 * time.Second: 4, time.Hour: 4,
	} {
		if got := logInterval(interval); got != want {
			t.Errorf("%v: 2^%d s, want 2^%d s", interval, got, want)
		}
	}
}

func TestUTCOffset(t *testing.T) {
	const told = 37 * time.Second
	none := datasets.Optional[time.Duration]{}
	for _, c := range []struct {
		option    string
		announced bool
		flags     wire.PTPFlags
		want      datasets.Optional[time.Duration]
	}{
		{"valid", false, 0, none},
		{"valid", true, 0, none},
		{"valid", true, wire.FlagUTCOffsetValid | wire.FlagPTPTimescale, datasets.Some(told)},
		{"announced", false, 0, none},
		{"announced", true, 0, datasets.Some(told)},
		{"36s", true, wire.FlagUTCOffsetValid | wire.FlagPTPTimescale, datasets.Some(36 * time.Second)},
		{"36s", false, 0, datasets.Some(36 * time.Second)},
		{"0s", true, wire.FlagUTCOffsetValid | wire.FlagPTPTimescale, datasets.Some(time.Duration(0))},
	} {
		p := parseNTP(t, "ptp:utc-offset="+c.option).(ptpProbe)
		var a *wire.Announcement
		if c.announced {
			a = &wire.Announcement{UTCOffset: told}
		}
		var row datasets.Exchange
		if p.announced(&row, c.flags, a); row.UTCOffset != c.want {
			t.Errorf("%+v: %v", c, row.UTCOffset)
		}
	}
}

// The negotiation alone, by a clock that is told: a grant is renewed before it ends,
// lack is asked for once a second, no is taken at 16 s, a cancelled session is wanted
// again.
func TestNegotiation(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	say := func(length, kind, interval byte) *wire.PTP {
		return &wire.PTP{TLVs: []byte{0, 5, 0, 8, kind << 4, interval, 0, 0, 0, length, 0, 1}}
	}
	kinds := []wire.PTPType{wire.Announce, wire.Sync, wire.DelayResp}
	n := newNegotiation(-3)
	check := func(what string, after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		if got := n.lack(now); len(got) != want {
			t.Errorf("%s: asks for %v, want %d", what, got, want)
		}
	}
	check("at first", 0, 3)
	check("at once", impatience-1, 0)
	check("in vain", 1, 3)
	for _, kind := range kinds {
		n.told(say(60, byte(kind), 0), now)
	}
	check("granted", 39*time.Second, 0)
	check("20 s before the end", time.Second, 3)
	for _, kind := range kinds {
		n.told(say(10, byte(kind), 0), now)
	}
	check("granted for less", 4*time.Second, 0)
	check("half of it is over", time.Second, 3)
	n.told(say(60, byte(wire.Announce), 0), now)
	n.told(say(60, byte(wire.DelayResp), 0), now)
	for range 7 {
		if n.told(say(0, byte(wire.Sync), 0), now); n.no {
			t.Fatal("no is taken below 16 s")
		}
		check("denied", 0, 1)
	}
	if n.told(say(0, byte(wire.Sync), 0), now); !n.no || n.denied != 8 {
		t.Errorf("no is not taken at 16 s, %d denied", n.denied)
	}
	check("denied at last", 0, 0)
	if got := n.open(now); len(got) != 3 { // the Sync of before, too
		t.Errorf("open: %v", got)
	}
	cancelled := n.told(&wire.PTP{TLVs: []byte{0, 6, 0, 2, byte(wire.Announce) << 4, 0}}, now)
	if len(cancelled) != 1 || cancelled[0] != wire.Announce || len(n.open(now)) != 2 {
		t.Errorf("cancelled %v, open %v", cancelled, n.open(now))
	}
}

// What we write is read back by the decoder, and grants are found whatever stands
// behind them. No message of anybody makes sessions we did not want.
func FuzzGrants(f *testing.F) {
	f.Add([]byte{}, byte(1), byte(0xfd), uint16(300))
	f.Add([]byte{0, 5, 0xff, 0xff}, byte(9), byte(4), uint16(0))
	f.Add([]byte{0, 6, 0, 2, 0x10, 0}, byte(11), byte(0), uint16(60))
	f.Fuzz(func(t *testing.T, junk []byte, kind, interval byte, length uint16) {
		kind &= 15
		tlv := []byte{0, 5, 0, 8, kind << 4, interval, 0, 0, byte(length >> 8), byte(length), 0, 1}
		got := grants(&wire.PTP{TLVs: append(tlv, junk...)})
		if want := (grant{session: session{wire.PTPType(kind), int8(interval), time.Duration(length) * time.Second}}); len(got) == 0 || got[0] != want {
			t.Fatalf("%v, want %v first", got, want)
		}
		if len(got) > 1+len(junk)/6 {
			t.Errorf("%d grants of %d bytes", len(got), len(junk))
		}
		n := newNegotiation(0)
		n.told(&wire.PTP{TLVs: junk}, time.Unix(0, 0))
		for _, s := range n.sessions {
			if s.interval < 0 || s.interval > slowest || s.length != sessionLength || s.until.IsZero() && !s.due.IsZero() {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestSignalingIsReadBack(t *testing.T) {
	id := newPortID()
	for what, size := range map[purpose]int{request: 10, cancel: 6, acknowledge: 6} {
		b, err := signaling(id, 3, 77, what, session{wire.Sync, -3, time.Minute}, session{wire.DelayResp, 2, time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		m, err := wire.DecodePTP(b)
		if err != nil || m.Type != wire.Signaling || m.Source != id || m.Domain != 3 || m.Sequence != 77 || len(m.TLVs) != 2*size {
			t.Errorf("%d: %+v, %v", what, m, err)
		}
	}
	for _, simple := range []bool{false, true} {
		b, err := delayReq(id, 3, 78, simple)
		if err != nil {
			t.Fatal(err)
		}
		m, err := wire.DecodePTP(b)
		if err != nil || m.Type != wire.DelayReq || m.Source != id || m.Domain != 3 || m.Sequence != 78 || m.Flags.Has(wire.FlagProfile1) != simple {
			t.Errorf("%+v, %v", m, err)
		}
	}
}
