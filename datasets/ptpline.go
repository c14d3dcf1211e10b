package datasets

import (
	"bytes"
	"time"
)

// ptpLine is a line of a log of linuxptp's programs, cut into what is in front of it and
// what it says. In front stands, alone or one in the other:
//
//	ptp4l[1662.910]:                        -m: seconds since the host's start
//	Feb 15 20:04:04 host ptp4l[383]: [24.634]   syslog, journal: the bracket is the same
//	[ptp4l.0.config:6]                      which of several, and the level (from 3.x on)
//	1705509028.124002 161053 sptp.go:395]   sptp: seconds since 1970
//	I0117 08:31:23.173349 161053 sptp.go:395]   klog: without a year
type ptpLine struct {
	process, config, text []byte
	uptime                Optional[time.Duration] // since the host's start
	wall                  Optional[time.Duration] // since 1970
	syslog                time.Duration           // since the beginning of a year
}

func newPTPLine(line []byte) (p ptpLine) {
	if rest, ok := p.klog(line); ok {
		p.process, p.text = []byte("sptp"), rest
		return p
	}
	if at, rest, ok := cutSyslog(line); ok {
		p.syslog = at
		_, line, _ = bytes.Cut(rest, []byte(" ")) // the host
	}
	for {
		name, inside, rest, ok := cutProcess(line)
		if !ok {
			break
		}
		p.process, line = name, rest
		if up, err := parseNanos(inside, time.Second); err == nil && bytes.IndexByte(inside, '.') >= 0 {
			p.uptime = Some(up)
		}
	}
	for len(line) > 0 && line[0] == '[' {
		inside, rest, ok := bytes.Cut(line[1:], []byte("] "))
		if !ok {
			break
		}
		if up, err := parseNanos(inside, time.Second); err == nil {
			p.uptime = Some(up)
		} else {
			p.config, _, _ = bytes.Cut(inside, []byte(":"))
		}
		line = rest
	}
	p.text = line
	return p
}

// klog reads what sptp puts in front.
func (p *ptpLine) klog(line []byte) (rest []byte, ok bool) {
	head, rest, ok := bytes.Cut(line, []byte("] "))
	if !ok || !bytes.Contains(head, []byte(" sptp.go:")) {
		return nil, false
	}
	first := firstWord(head)
	if at, err := parseNanos(first, time.Second); err == nil {
		p.wall = Some(at)
		return rest, true
	}
	// I0117 08:31:23.173349
	if len(head) < 14 || len(first) != 5 {
		return nil, false
	}
	month, ok1 := digits(first[1:3])
	day, ok2 := digits(first[3:])
	at, ok3 := parseClock(firstWord(head[6:]))
	if !ok1 || !ok2 || !ok3 || month < 1 || month > 12 {
		return nil, false
	}
	p.syslog = sinceYear(month, day) + at
	return rest, true
}

// cutProcess cuts "name[inside]: " off.
func cutProcess(line []byte) (name, inside, rest []byte, ok bool) {
	i := bytes.IndexByte(line, '[')
	j := bytes.Index(line, []byte("]: "))
	if i <= 0 || j < i || bytes.IndexByte(line[:i], ' ') >= 0 {
		return nil, nil, line, false
	}
	return line[:i], line[i+1 : j], line[j+3:], true
}

// cutSyslog cuts "Feb 15 20:04:04 " off, which has no year.
func cutSyslog(line []byte) (at time.Duration, rest []byte, ok bool) {
	if len(line) < 16 || line[3] != ' ' || line[6] != ' ' || line[15] != ' ' {
		return 0, line, false
	}
	month := bytes.Index([]byte("JanFebMarAprMayJunJulAugSepOctNovDec"), line[:3])
	day, ok1 := digits(bytes.TrimLeft(line[4:6], " "))
	clock, ok2 := parseClock(line[7:15])
	if month < 0 || month%3 != 0 || !ok1 || !ok2 || day > 31 {
		return 0, line, false
	}
	return sinceYear(month/3+1, day) + clock, line[16:], true
}

// sinceYear counts in a year with a 29th of February, so that every day has its place.
func sinceYear(month, day int) time.Duration {
	return time.Duration(daysSince1970(2024, month, day)-daysSince1970(2024, 1, 1)) * 24 * time.Hour
}

// syslogTime makes times without a year follow one another: one that is more than half
// a year before the last is of the next.
type syslogTime struct {
	years int
	last  time.Duration
}

func (t *syslogTime) since(at time.Duration) time.Duration {
	const year = 366 * 24 * time.Hour
	if at < t.last-year/2 {
		t.years++
	}
	t.last = at
	return time.Duration(t.years)*year + at
}
