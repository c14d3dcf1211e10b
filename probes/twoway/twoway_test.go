package twoway

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
)

func TestClock(t *testing.T) {
	const at = int64(1_796_083_200_000_000_007) // 2026-12-01 00:00:00 UTC and 7 ns
	for _, c := range []struct {
		name, format string
		says         discipline
		err          error
		sync         bool
		off          time.Duration
		ahead        int64
	}{
		{"synchronised", NTP, discipline{true, 3 * time.Millisecond, 37 * time.Second}, nil, true, 3 * time.Millisecond, 0},
		{"PTP is TAI", PTP, discipline{true, time.Second, 37 * time.Second}, nil, true, time.Second, 37e9},
		{"PTP without TAI", PTP, discipline{true, time.Second, 0}, nil, true, time.Second, 0},
		{"free running", NTP, discipline{false, time.Microsecond, 0}, nil, false, unknown, 0},
		{"not told", NTP, discipline{}, errors.New("no"), false, unknown, 0},
	} {
		clock, err := NewClock(c.format)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		clock.read = func() (discipline, error) { asked++; return c.says, c.err }
		stamp, e := clock.Stamp(at)
		clock.Stamp(at + 999_999_999)
		got, ok := e.UnixNanos(stamp, at)
		// An estimate has 8 significant bits, and is rounded up.
		off, _ := e.Duration()
		if !ok || got != at+c.ahead || e.Synchronised() != c.sync || e.PTP() != (c.format == PTP) || off < c.off || off > c.off+c.off/100 || asked != 1 {
			t.Errorf("%s: %d, synchronised %v, off by %v; asked %d times", c.name, got, e.Synchronised(), off, asked)
		}
		if clock.Stamp(at + 1e9); asked != 2 {
			t.Errorf("%s: asked %d times", c.name, asked)
		}
		if clock.Stamp(at); asked != 3 {
			t.Errorf("%s: asked %d times after the clock went back", c.name, asked)
		}
	}
	if _, err := NewClock("gps"); err == nil {
		t.Error("a format that does not exist is taken")
	}
}

// What this host's kernel says makes a packet that nobody takes for corrupt.
func TestClockOfThisHost(t *testing.T) {
	clock, _ := NewClock(NTP)
	at, e := clock.Stamp(time.Now().UnixNano())
	if off, ok := e.Duration(); !ok || off <= 0 || at == 0 || e&0xff == 0 {
		t.Errorf("%#x, %v", wire.ErrorEstimate(e), off)
	}
}

func TestKey(t *testing.T) {
	for _, c := range []struct{ text, want, wrong string }{
		{"sixteen bytes of\n", "sixteen bytes of", ""},
		{"sixteen bytes of\r\n", "sixteen bytes of", ""},
		{"hex:000102030405060708090a0b0c0d0e0f\n", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f", ""},
		{"hex:secret secret secret secret sec", "", "not hexadecimal"},
		{"secret", "", "want at least 16"},
		{"", "", "want at least 16"},
	} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Key(file)
		if string(got) != c.want || (err != nil) != (c.wrong != "") {
			t.Errorf("%q: %q, %v", c.text, got, err)
		}
		if err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if _, err := Key(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
