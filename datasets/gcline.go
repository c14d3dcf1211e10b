package datasets

import (
	"bytes"
	"strings"
	"time"
)

// gcLine is a line of a GC log without what stands before its text.
type gcLine struct {
	uptime    time.Duration // since the JVM started
	hasUptime bool
	wall      time.Time // zero if not told
	unified   bool
	tags      string // of unified logging: "gc,start"
	text      []byte
}

// newGCLine takes off the decorations of unified logging, [2022-08-16T20:38:09.926+0800]
// [0.021s][info][gc,init], in whatever order they were asked for, or the stamps of the
// older log, 2016-04-14T22:30:09.108+0200: 1.053:, each of which may be absent.
func newGCLine(line []byte) gcLine {
	l := gcLine{text: bytes.TrimRight(line, "\r\n \t")}
	if bytes.HasPrefix(l.text, []byte{'['}) {
		l.takeDecorations()
		if l.unified {
			return l
		}
	}
	if stamp, rest, ok := bytes.Cut(l.text, []byte(": ")); ok {
		if wall, ok := parseGCWall(string(stamp)); ok {
			l.wall, l.text = wall, rest
		}
	}
	if stamp, rest, ok := bytes.Cut(l.text, []byte(":")); ok {
		if up, ok := parseSeconds(stamp); ok {
			l.uptime, l.hasUptime, l.text = up, true, bytes.TrimPrefix(rest, []byte{' '})
		}
	}
	return l
}

// takeDecorations takes brackets off the front, if one of them tells a time.
func (l *gcLine) takeDecorations() {
	decorated := *l
	for {
		rest, found := bytes.CutPrefix(decorated.text, []byte{'['})
		if !found {
			break
		}
		inside, after, closed := bytes.Cut(rest, []byte{']'})
		if !closed || bytes.IndexByte(inside, '[') >= 0 {
			break
		}
		decorated.decorate(strings.TrimSpace(string(inside)))
		decorated.text = after
	}
	if decorated.hasUptime || !decorated.wall.IsZero() {
		*l = decorated
		l.unified = true
		l.text = bytes.TrimPrefix(l.text, []byte{' '})
	}
}

// earliest is more than any uptime in milliseconds or nanoseconds and less than any time
// of day since 1970 that a log was written at: both are decorated alike.
const earliest = 30 * 365 * 24 * time.Hour

// decorate takes one decoration: a time, the tags, or what says nothing here.
func (l *gcLine) decorate(text string) {
	if wall, ok := parseGCWall(text); ok {
		l.wall = wall
		return
	}
	for _, unit := range []struct {
		suffix string
		length time.Duration
	}{{"ms", time.Millisecond}, {"ns", time.Nanosecond}, {"s", time.Second}} {
		number, found := strings.CutSuffix(text, unit.suffix)
		if !found {
			continue
		}
		d, err := parseDecimal(strings.Replace(number, ",", ".", 1), unit.length)
		switch {
		case err != nil || d < 0 || d > farthest:
			continue
		case d < earliest:
			l.uptime, l.hasUptime = d, true
		default:
			l.wall = time.Unix(0, int64(d))
		}
		return
	}
	if strings.HasPrefix(text, "gc") || strings.HasPrefix(text, "safepoint") {
		l.tags = text
	}
}

// parseGCWall reads 2022-08-16T20:38:09.926+0800, whose decimals may stand behind a comma.
func parseGCWall(text string) (time.Time, bool) {
	const layout = "2006-01-02T15:04:05.000-0700"
	if len(text) != len(layout) || text[10] != 'T' {
		return time.Time{}, false
	}
	t, err := time.Parse(layout, strings.Replace(text, ",", ".", 1))
	return t, err == nil && t.Year() > 1970 && t.Year() < 2200
}

// parseSeconds reads a time as the older log writes it, 366.174 or 366,174.
func parseSeconds(text []byte) (time.Duration, bool) {
	if len(text) == 0 || len(text) > 30 || text[0] == '-' || !bytes.ContainsAny(text, ".,") {
		return 0, false
	}
	d, err := parseDecimal(strings.Replace(string(text), ",", ".", 1), time.Second)
	return d, err == nil && d <= farthest
}

// gcClock places the lines of a log on one axis: the uptime of the first JVM in it, or
// without uptimes the time since the first line.
type gcClock struct {
	base     time.Duration // of this JVM's start
	first    Instant
	now      Instant
	uptime   time.Duration // of the last line that told it
	zero     time.Time     // the time of day at instant 0
	restarts int64
	known    bool
}

// backwards is by how much an uptime must be below the one before it, to be of another
// JVM: two threads may write a little out of order.
const backwards = time.Second

// place returns when a line was written, or for one without a time that of the one
// before it, and false if there is none.
func (c *gcClock) place(l *gcLine) (Instant, bool) {
	switch {
	case l.hasUptime:
		if c.known && l.uptime < c.uptime-backwards {
			c.restart(l)
		}
		c.uptime = l.uptime
		if c.zero.IsZero() && !l.wall.IsZero() {
			c.zero = l.wall.Add(-c.base - l.uptime)
		}
		c.move(Instant(min(c.base, farthest) + l.uptime))
	case !l.wall.IsZero():
		if c.zero.IsZero() {
			c.zero = l.wall
		}
		c.move(Instant(l.wall.Sub(c.zero)))
	}
	return c.now, c.known
}

func (c *gcClock) move(to Instant) {
	if !c.known {
		c.first, c.known = to, true
	}
	c.now = to
}

// restart begins a new JVM's uptime where the time of day says, or else at once.
func (c *gcClock) restart(l *gcLine) {
	c.restarts++
	c.base = time.Duration(c.now)
	if !c.zero.IsZero() && !l.wall.IsZero() {
		c.base = max(c.base, l.wall.Sub(c.zero)-l.uptime)
	}
}

func (c *gcClock) epoch() (time.Time, bool) { return c.zero, !c.zero.IsZero() }

func (c *gcClock) span() time.Duration { return c.now.Sub(c.first) }
