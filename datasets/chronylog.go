package datasets

import (
	"bytes"
	"fmt"
	"time"
)

// What chronyd's logs have in common (chrony.conf(5), "log"): they begin with a date and a
// time, UTC, and repeat a banner of three lines unless told not to.

func chronyBanner(line []byte) bool {
	line = bytes.TrimLeft(line, " ")
	return len(line) == 0 || bytes.HasPrefix(line, []byte("====")) || bytes.HasPrefix(line, []byte("Date (UTC)"))
}

// chronyTime reads the first two columns.
func chronyTime(f *columns) time.Duration {
	day, ok := parseDate(f.cell[0])
	at, timed := parseClock(f.cell[1])
	if !ok || !timed {
		f.fail(0, fmt.Errorf("%s: want a date and a time", clip(bytes.Join(f.cell[:2], []byte{' '}))))
	}
	return day + at
}

func isDated(f columns) bool {
	_, ok := parseDate(f.cell[0])
	_, timed := parseClock(f.cell[1])
	return ok && timed
}

func isChronyLeap(cell []byte) bool {
	return isAnyOf(cell, "N+-?")
}

// chronyLeap is the leap status as NTP counts it.
func chronyLeap(cell []byte) Optional[int] {
	return Some(bytes.IndexByte([]byte("N+-?"), cell[0]))
}

// What their headers say of the sign.
const (
	signAsIs   = "θ as the tool writes it: positive is a local clock that is slow"
	signTurned = "the tool's sign is turned: positive is a local clock that is slow, or loses"
)

func offsetSeries(h *Header, sign, delay, errorOf string) {
	h.Set("series", "offset")
	h.Set("sign", sign)
	if delay != "" {
		h.Set("delay", delay)
	}
	if errorOf != "" {
		h.Set("error", errorOf)
	}
}
