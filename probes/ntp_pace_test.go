package probes

import (
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Whose server an address is: IANA's special-purpose registries (RFC 6890).
// Documentation addresses (RFC 5737, RFC 3849) stand here for public ones.
func TestWhoMayBeAskedHowOften(t *testing.T) {
	for text, public := range map[string]bool{
		"127.0.0.1": false, "127.255.0.9": false, "::1": false,
		"10.77.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "fd00::1": false,
		"169.254.1.1": false, "fe80::1": false, "fe80::1%eth0": false,
		"192.0.2.1": true, "198.51.100.7": true, "2001:db8::1": true, "172.32.0.1": true, "100.64.0.1": true, "11.0.0.1": true,
	} {
		addr := netip.MustParseAddr(text)
		usual, err := ntpSchedule(addr, Plan{})
		want := ownInterval
		if public {
			want = publicInterval
		}
		if err != nil || usual.interval != want {
			t.Errorf("%s: every %v, %v; want %v", text, usual.interval, err, want)
		}
		if got := ntpGap(addr, Plan{}) > 0; got != public {
			t.Errorf("%s: kept apart %v, want %v", text, got, public)
		}
		for _, interval := range []time.Duration{1, publicInterval - 1, publicInterval, time.Hour} {
			_, err := ntpSchedule(addr, Plan{Interval: interval})
			refused := public && interval < publicInterval
			var usage *spec.UsageError
			if refused != errors.As(err, &usage) || refused && !strings.Contains(err.Error(), "--i-own-this-server") {
				t.Errorf("%s every %v: %v, want refused %v", text, interval, err, refused)
			}
			if s, err := ntpSchedule(addr, Plan{Interval: interval, Owned: true}); err != nil || s.interval != interval {
				t.Errorf("%s every %v, owned: every %v, %v", text, interval, s.interval, err)
			}
		}
		if s, err := ntpSchedule(addr, Plan{Owned: true}); err != nil || s.interval != ownInterval {
			t.Errorf("%s, owned: every %v, %v", text, s.interval, err)
		}
	}
}

const second = datasets.Instant(time.Second)

func TestPassedDueTimesAreSkipped(t *testing.T) {
	p := ntpPace{schedule: schedule{interval: time.Second, count: 5}}
	for _, c := range []struct {
		ended         datasets.Instant // of the attempt before
		due           datasets.Instant
		made, skipped int64
	}{
		{0, second, 1, 0},
		{second + 1, 2 * second, 2, 0},
		{3 * second, 3 * second, 3, 0}, // due just now is not passed
		{7*second + 1, 8 * second, 4, 4},
	} {
		p.done(p.due, c.ended)
		if due, ok := p.next(); !ok || due != c.due || p.made != c.made || p.skipped != c.skipped {
			t.Errorf("ended at %v: due %v, %v, made %d, skipped %d; want %+v", c.ended, due, ok, p.made, p.skipped, c)
		}
	}
	p.miss(12 * second)
	if due, ok := p.next(); !ok || due != 12*second || p.made != 4 || p.skipped != 8 {
		t.Errorf("not run until 12 s: due %v, made %d, skipped %d", due, p.made, p.skipped)
	}
	p.done(p.due, p.due)
	if _, ok := p.next(); ok {
		t.Error("a sixth attempt of five")
	}
}

func TestPaceEnds(t *testing.T) {
	p := ntpPace{schedule: schedule{interval: time.Second, duration: 3 * time.Second}}
	n := 0
	for ; n < 10; n++ {
		due, ok := p.next()
		if !ok {
			break
		}
		p.done(due, due)
	}
	if n != 3 {
		t.Errorf("%d attempts in 3 s, want those due at 0, 1 and 2 s", n)
	}
	p = ntpPace{schedule: schedule{interval: math.MaxInt64/2 + 1}}
	p.done(0, 1)
	p.done(p.due, p.due)
	if due, ok := p.next(); ok {
		t.Errorf("due at %v, beyond what an instant holds", due)
	}
}

// However late an attempt leaves, and whenever it ends, a public server sees the
// next one 1.9 s later at the earliest.
func TestPublicServersAreNeverAskedInABurst(t *testing.T) {
	gap := ntpGap(netip.MustParseAddr("192.0.2.1"), Plan{})
	p := ntpPace{schedule: schedule{interval: publicInterval}, gap: gap}
	last := datasets.Instant(-math.MaxInt64 / 2)
	for i := range 1000 {
		due, ok := p.next()
		if !ok {
			t.Fatal("ended")
		}
		sent := due.Add(time.Duration(i%7) * 700 * time.Millisecond)
		if sent.Sub(last) < 1900*time.Millisecond {
			t.Fatalf("attempt %d left %v after the one before", i, sent.Sub(last))
		}
		p.done(sent, sent.Add(time.Duration(i%11)*400*time.Millisecond))
		last = sent
	}
}

func TestSlowDoublesTheInterval(t *testing.T) {
	for _, c := range []struct{ from, to time.Duration }{
		{time.Millisecond, 2 * time.Second},
		{time.Second, 2 * time.Second},
		{2 * time.Second, 4 * time.Second},
		{100 * time.Second, 200 * time.Second},
		{100_000 * time.Second, 131_072 * time.Second}, // MAXPOLL of RFC 5905, 2^17 s
		{200_000 * time.Second, 200_000 * time.Second},
	} {
		p := ntpPace{schedule: schedule{interval: c.from}}
		if p.slow(); p.interval != c.to {
			t.Errorf("%v becomes %v, want %v", c.from, p.interval, c.to)
		}
	}
}
