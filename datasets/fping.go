package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"time"
)

// fping prints a line for each attempt (-c, with its time by -D) or all of a target's in
// one (-C): one series a target. Times are in milliseconds, and what is lost is told.
func bindFping(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isFping, byLine(func() dialect { return &fping{} }))(fs)
}

type fping struct{ targets map[string]*fpingTarget }

type fpingTarget struct {
	n, anchor int64
	at        Instant
}

func isFping(head []byte) bool {
	for line := range firstLines(head) {
		_, rest, ok := fpingHost(line)
		return ok && (isFpingList(rest) || bytes.HasPrefix(rest, []byte("[")) && bytes.Contains(rest, []byte("% loss)")))
	}
	return false
}

// fpingHost splits "host : rest", and leaves out a time in front of it.
func fpingHost(line []byte) (host, rest []byte, ok bool) {
	host, rest, ok = bytes.Cut(line, []byte(" : "))
	if i := bytes.LastIndexByte(host, ']'); i >= 0 {
		host = host[i+1:]
	}
	host = bytes.TrimSpace(host)
	return host, rest, ok && len(host) > 0 && bytes.IndexByte(host, ' ') < 0
}

// isFpingList reports whether it is nothing but times and dashes.
func isFpingList(rest []byte) bool {
	var f columns
	f.split(rest)
	for i := range min(f.n, len(f.cell)) {
		if !isNumberOrNone(f.cell[i]) {
			return false
		}
	}
	return f.n > 0
}

func (p *fping) line(text []byte, out *rows) error {
	host, rest, ok := fpingHost(text)
	if !ok || bytes.Contains(rest, []byte("xmt/rcv/%loss")) {
		return nil // a summary, an empty line, an ICMP message
	}
	if p.targets == nil {
		p.targets = map[string]*fpingTarget{}
	}
	t := p.targets[string(host)]
	if t == nil {
		t = &fpingTarget{}
		p.targets[string(host)] = t
	}
	s, _ := out.of(host, RTT, "fping")
	if bytes.HasPrefix(rest, []byte("[")) {
		return t.attempt(text, rest, s, out)
	}
	return t.list(rest, s, out)
}

func (*fping) end(*rows) error { return nil }

// list reads the times of -C, a dash for one that is lost.
func (t *fpingTarget) list(rest []byte, s *Series, out *rows) error {
	out.say("fping -C tells no times of sending: attempts are taken to be %v apart, so nothing said of instants holds (-D -c prints them)", pingInterval)
	for word := range bytes.FieldsSeq(rest) {
		row := t.row(s, out)
		if isAbsent(word) {
			row.Outcome, row.Copies = TimedOut, 0
			continue
		}
		elapsed, err := parseNanos(word, time.Millisecond)
		if err != nil {
			return err
		}
		row.Elapsed = elapsed
	}
	return nil
}

// row adds the next attempt, at the time when it must have been sent.
func (t *fpingTarget) row(s *Series, out *rows) *Sample {
	row := out.sample(s)
	row.Due = t.at.Add(time.Duration(t.n-t.anchor) * pingInterval)
	row.Sent = row.Due
	t.n++
	return row
}

// attempt reads "[3], 64 bytes, 0.040 ms (…)" or "[3], timed out (…)".
func (t *fpingTarget) attempt(text, rest []byte, s *Series, out *rows) error {
	number, fate, _ := bytes.Cut(rest[1:], []byte("], "))
	n, ok := digits(number)
	if !ok || int64(n) < t.n {
		return fmt.Errorf("%s: want the number of an attempt behind %d", clip(rest), t.n)
	}
	if int64(n)-t.n > longestGap {
		return fmt.Errorf("%s: more than %d attempts are missing", clip(rest), longestGap)
	}
	for t.n < int64(n) {
		row := t.row(s, out)
		row.Outcome, row.Copies = TimedOut, 0
	}
	row := t.row(s, out)
	if bytes.HasPrefix(fate, []byte("timed out")) {
		row.Outcome, row.Copies = TimedOut, 0
		return nil
	}
	var f columns
	f.split(fate)
	if f.n < 4 || string(f.cell[1]) != "bytes," || string(f.cell[3]) != "ms" {
		return fmt.Errorf("%s: want a size and a time in ms", clip(rest))
	}
	row.Elapsed, row.Size = f.nanos(2, time.Millisecond), f.whole(0)
	if stamp, _, found := bytes.Cut(text, []byte("] ")); found && stamp[0] == '[' {
		at, err := parseNanos(stamp[1:], time.Second)
		if err != nil {
			return err
		}
		row.Due = s.wall(at - row.Elapsed)
		row.Sent = row.Due
		t.anchor, t.at = int64(n), row.Due
	} else {
		out.say("the lines have no times: attempts are taken to be %v apart, so nothing said of instants holds (-D prints them)", pingInterval)
	}
	return f.err
}
