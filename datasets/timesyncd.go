package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"time"
)

// timedatectl timesync-status: what systemd-timesyncd says of the server that it follows,
// a word and a value a line, each in a unit of its own. Its offset is θ.
func bindTimesyncd(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isTimesyncd, byLine(func() dialect { return &timesyncd{} }))(fs)
}

type timesyncd struct {
	claim Claim
	seen  bool // and every value of it could be read
}

func isTimesyncd(head []byte) bool {
	return bytes.Contains(head, []byte("Server: ")) && bytes.Contains(head, []byte("Poll interval: ")) && bytes.Contains(head, []byte("Root distance: "))
}

func (d *timesyncd) line(text []byte, _ *rows) error {
	key, value, found := strings.Cut(strings.TrimSpace(string(text)), ": ")
	if !found {
		return nil
	}
	c := &d.claim
	switch key {
	case "Server":
		d.seen = true
		*c = Claim{Source: "systemd-timesyncd " + value, Status: Selected}
	case "Stratum":
		n, _ := digits([]byte(value))
		c.Stratum = Some(n)
	case "Leap":
		if l, ok := map[string]int{"normal": 0, "insert": 1, "delete": 2, "not synchronised": 3}[value]; ok {
			c.Leap = Some(l)
		}
	case "Reference":
		c.Reference = value
	case "Offset", "Delay", "Jitter", "Root distance":
		return d.time(key, value)
	case "Frequency":
		// It is what the kernel's clock is told, so that it loses by as much.
		if v, err := parseNanos([]byte(strings.TrimSuffix(value, "ppm")), time.Microsecond); err == nil {
			c.Frequency = Some(PPB(v))
		}
	}
	return nil
}

// time reads a value of a key as systemd writes it: +2.1ms, 1min 2s.
func (d *timesyncd) time(key, value string) error {
	value, _, _ = strings.Cut(value, " (")
	plain := strings.NewReplacer("min", "m", "d", "*", " ", "").Replace(value)
	v, err := time.ParseDuration(plain)
	if err != nil {
		d.seen = false
		return fmt.Errorf("%s %q: want a time with its unit", strings.ToLower(key), value)
	}
	switch key {
	case "Offset":
		d.claim.Offset = Some(v)
	default:
		d.claim.AddFact(strings.ToLower(strings.ReplaceAll(key, " ", "-")), value)
	}
	return nil
}

func (d *timesyncd) end(out *rows) error {
	if !d.seen {
		return nil
	}
	s, _ := out.of(nil, Claims, "timedatectl timesync-status")
	s.Header.Set("sign", signAsIs)
	out.say("timedatectl does not say when it was asked: the instant is 0")
	*out.claim(s) = d.claim
	return nil
}
