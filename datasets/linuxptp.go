package datasets

import (
	"bytes"
	"flag"
	"slices"
	"strconv"
	"time"
)

// The log of ptp4l, phc2sys, ts2phc and facebook's sptp, which write one kind of line, on
// its own or as syslog or the journal has it, or in a mixture of all (linuxptp-daemon). One
// series for each process and clock. A positive offset of theirs is a clock that is ahead
// of its source, and a positive frequency one that gains.
func bindLinuxptp(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isLinuxptp, byLine(func() dialect { return &linuxptp{} }))(fs)
}

func isLinuxptp(head []byte) bool {
	for line := range firstLines(head) {
		p := newPTPLine(line)
		if slices.Contains(ptpProcesses(), string(p.process)) || isDaemonStart(line) {
			return true
		}
	}
	return false
}

// isDaemonStart reports whether linuxptp-daemon says where its profiles are, long before
// the first program of linuxptp writes a line.
func isDaemonStart(line []byte) bool {
	return bytes.Contains(line, []byte(".go:")) && bytes.Contains(line, []byte("] linuxptp profile path set to: "))
}

func ptpProcesses() []string { return []string{"ptp4l", "phc2sys", "ts2phc", "timemaster", "sptp"} }

type linuxptp struct {
	name []byte // room for the name of a series
	last syslogTime
	any  bool
}

func (l *linuxptp) line(text []byte, out *rows) error {
	p := newPTPLine(text)
	if !slices.Contains(ptpProcesses(), string(p.process)) {
		return nil
	}
	return l.put(&p, out)
}

func (l *linuxptp) end(out *rows) error {
	if !l.any {
		out.say("no line tells an offset: it is of a master, or of a port that followed none")
	}
	return nil
}

// put adds the row of a line, if it has one.
func (l *linuxptp) put(p *ptpLine, out *rows) error {
	v, is, err := readPTPValues(p.text)
	if !is || err != nil {
		return err
	}
	l.any = true
	l.name = append(l.name[:0], p.process...)
	for _, part := range [][]byte{p.config, v.subject} {
		if len(part) > 0 {
			l.name = append(append(l.name, ' '), part...)
		}
	}
	if v.rms {
		l.name = append(l.name, " rms"...)
	}
	s, first := out.of(l.name, SeriesKind, "linuxptp")
	if first {
		describePTP(s.Header, p, &v)
	}
	at := l.at(s, p)
	if s.Rows > 0 && at < 0 {
		out.count("1 line is of before the first one of its series: the clock of the log was set, or the machine began anew", "%d lines are of before the first one of their series: the clock of the log was set, or the machine began anew")
	}
	v.fill(out.point(s), at)
	return nil
}

// at returns when a line was written, by the best clock that it has.
func (l *linuxptp) at(s *Series, p *ptpLine) Instant {
	if wall, ok := p.wall.Value(); ok {
		return s.wall(wall)
	}
	if up, ok := p.uptime.Value(); ok {
		return s.since(up)
	}
	return s.since(l.last.since(p.syslog))
}

func describePTP(h *Header, p *ptpLine, v *ptpValues) {
	delay := "path delay, one way"
	if string(p.process) == "phc2sys" {
		delay = "time it took to read the two clocks"
	}
	offsetSeries(h, signTurned, delay, "")
	h.Set(KeySource, string(p.process))
	if v.rms {
		h.Set("error", "root mean square of the offsets of an interval, whose sign is lost")
		h.Extra = []string{"max_ns"}
	}
	_, walled := p.wall.Value()
	_, up := p.uptime.Value()
	switch {
	case walled:
	case up:
		h.Set("clock", "CLOCK_MONOTONIC of the host, seconds since its start; the wall time is not in the lines")
	default:
		h.Set("clock", "the syslog's, without a year")
	}
}

// ptpValues is what a line tells: "master offset −5 s2 freq −100 path delay 700".
type ptpValues struct {
	subject           []byte // what stands before the offset, such as a clock's name
	state             []byte
	offset, delay     time.Duration
	most              time.Duration // rms lines: the greatest
	freq              int64         // ppb
	hasFreq, hasDelay bool
	rms               bool
}

func readPTPValues(text []byte) (v ptpValues, is bool, err error) {
	var f columns
	f.split(text)
	if f.n > len(f.cell) {
		return v, false, nil
	}
	words := f.cell[:f.n]
	for i, w := range words {
		if string(w) == "offset" && i+2 < f.n && i < 4 && isState(words[i+2]) {
			v.subject, v.state = subject(text, w), words[i+2]
			v.offset = f.nanos(i+1, 1)
			v.rest(&f, i+3)
			return v, true, f.err
		}
		if string(w) == "rms" && i+3 < f.n && i < 3 && string(words[i+2]) == "max" {
			v.subject, v.rms = subject(text, w), true
			v.offset, v.most = f.nanos(i+1, 1), f.nanos(i+3, 1)
			v.rest(&f, i+4)
			return v, true, f.err
		}
	}
	return v, false, nil
}

// subject returns what stands before a word of a text.
func subject(text, word []byte) []byte {
	return bytes.TrimSpace(text[:cap(text)-cap(word)])
}

func isState(word []byte) bool {
	return len(word) == 2 && word[0] == 's' && word[1] >= '0' && word[1] <= '3'
}

func (v *ptpValues) rest(f *columns, from int) {
	for i := from; i+1 < f.n; i++ {
		switch string(f.cell[i]) {
		case "freq":
			v.freq, v.hasFreq = int64(f.nanos(i+1, 1)), true
		case "delay":
			v.delay, v.hasDelay = f.nanos(i+1, 1), true
		}
	}
}

func (v *ptpValues) fill(p *Point, at Instant) {
	p.At = at
	if v.rms {
		p.Status, p.Error = "rms", Some(v.offset)
		p.Extra = strconv.FormatInt(int64(v.most), 10)
	} else {
		p.Status, p.Offset = string(v.state), Some(-v.offset)
	}
	if v.hasFreq {
		p.Frequency = Some(0 - float64(v.freq)*1e-9)
	}
	if v.hasDelay {
		p.Delay = Some(v.delay)
	}
}
