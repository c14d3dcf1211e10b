package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"time"
)

// ping prints a line for each answer: that of iputils, of the BSDs and macOS, of busybox,
// and of Windows in English. What is missing between two answers was lost; what is
// missing behind the last one, the summary at the end tells. Times of sending are told
// with -D alone.
func bindPing(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isPing, byLine(func() dialect { return &ping{} }))(fs)
}

type ping struct {
	run  *pingRun
	runs map[string]int // how many there were of each target
}

// pingRun is what stands between one "PING host" and the next.
type pingRun struct {
	reorder
	series   *Series
	size     int
	spoken   int64 // answers and losses of a dialect without numbers
	anchor   int64 // the last attempt whose time is known, or the first
	at       Instant
	stamped  bool
	interval time.Duration
	out      *rows
}

// pingInterval is that of every ping unless told otherwise.
const pingInterval = time.Second

func isPing(head []byte) bool {
	for line := range firstLines(head) {
		if _, ok := pingTarget(line); ok {
			return true
		}
	}
	return false
}

// pingTarget returns whom a run pings: "PING host (addr) …", "PING host(addr) …",
// "PING6(…) a --> b", "Pinging host …".
func pingTarget(line []byte) (string, bool) {
	text, found := bytes.CutPrefix(line, []byte("PING "))
	if !found {
		if text, found = bytes.CutPrefix(line, []byte("Pinging ")); found {
			found = bytes.Contains(line, []byte(" bytes of data:"))
		} else if text, found = bytes.CutPrefix(line, []byte("PING6(")); found {
			_, text, found = bytes.Cut(text, []byte(" --> "))
		}
	}
	name, _, _ := bytes.Cut(text, []byte(" "))
	name, _, _ = bytes.Cut(name, []byte("("))
	return string(name), found && len(name) > 0
}

func (p *ping) line(text []byte, out *rows) error {
	if target, ok := pingTarget(text); ok {
		p.begin(target, text, out)
		return nil
	}
	if p.run == nil {
		return nil
	}
	return p.run.line(text)
}

func (p *ping) end(*rows) error {
	if p.run != nil {
		p.run.end(0)
	}
	return nil
}

func (p *ping) begin(target string, text []byte, out *rows) {
	if p.run != nil {
		p.run.end(0)
	}
	if p.runs == nil {
		p.runs = map[string]int{}
	}
	p.runs[target]++
	name := target
	if n := p.runs[target]; n > 1 {
		name = fmt.Sprintf("%s run %d", target, n)
	}
	s, _ := out.of([]byte(name), RTT, "ping")
	s.Header.Set(KeyTarget, target)
	p.run = &pingRun{series: s, interval: pingInterval, out: out}
	// iputils counts from 1 and the others from 0; those alone have a colon behind the address.
	if !bytes.Contains(text, []byte("): ")) {
		p.run.from = 1
	}
	p.run.lost, p.run.reorder.out = p.run.missing, p.run.put
}

// missing is an attempt that a later answer shows to be lost.
func (r *pingRun) missing(int64) Sample { return Sample{Outcome: TimedOut, Due: -1} }

// put adds an attempt whose turn has come. Due is −1 where the line does not tell it.
func (r *pingRun) put(n int64, s Sample) {
	if s.Due >= 0 {
		r.anchor, r.at = n, s.Due
	} else {
		s.Due = r.at.Add(time.Duration(n-r.anchor) * r.interval)
	}
	row := r.out.sample(r.series)
	row.Due, row.Sent, row.Elapsed = s.Due, s.Due, s.Elapsed
	row.Outcome, row.Copies, row.Size = s.Outcome, s.Copies, r.size
	if s.Size > 0 {
		row.Size = s.Size
	}
}

func (r *pingRun) line(text []byte) error {
	stamp, text := r.stampOf(text)
	switch {
	case bytes.Contains(text, []byte(" bytes from ")) && bytes.Contains(text, []byte("time")), bytes.HasPrefix(text, []byte("Reply from ")):
		return r.answer(text, stamp)
	case bytes.HasPrefix(text, []byte("Request timed out.")):
		r.number(text) // Windows has no other number
		r.add(r.spoken, r.missing(0))
	case bytes.HasPrefix(text, []byte("From ")), bytes.HasPrefix(text, []byte("no answer yet for ")), bytes.HasPrefix(text, []byte("Request timeout for ")):
		return r.failure(text)
	case bytes.Contains(text, []byte(" packets transmitted, ")):
		r.summary(text)
	case bytes.HasPrefix(text, []byte("rtt min/avg/max")), bytes.HasPrefix(text, []byte("round-trip min/avg/max")):
		r.series.Header.Set("told", string(text))
	}
	return nil
}

// stampOf cuts the [seconds] off that -D puts in front of a line.
func (r *pingRun) stampOf(text []byte) (Optional[time.Duration], []byte) {
	if len(text) == 0 || text[0] != '[' {
		return Optional[time.Duration]{}, text
	}
	inside, rest, found := bytes.Cut(text[1:], []byte("] "))
	at, err := parseNanos(inside, time.Second)
	if !found || err != nil {
		return Optional[time.Duration]{}, text
	}
	return Some(at), rest
}

// number returns the attempt that a line is of.
func (r *pingRun) number(text []byte) (int64, error) {
	_, after, found := bytes.Cut(text, []byte("seq"))
	if !found {
		r.spoken++
		return r.spoken, nil
	}
	after = bytes.TrimLeft(after, "= ")
	end := bytes.IndexFunc(after, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(after)
	}
	n, ok := digits(after[:end])
	if !ok || n > 0xffff {
		return 0, fmt.Errorf("%s: want a sequence number of 16 bits", clip(text))
	}
	return r.unwrap(uint16(n)), nil
}

func (r *pingRun) answer(text []byte, stamp Optional[time.Duration]) error {
	if bytes.HasPrefix(text, []byte("Reply from ")) && bytes.Contains(text, []byte("unreachable")) {
		return r.failure(text)
	}
	n, err := r.number(text)
	if err != nil {
		return err
	}
	elapsed, err := r.elapsed(text)
	if err != nil {
		r.unread(n)
		return err
	}
	s := Sample{Outcome: Replied, Elapsed: elapsed, Copies: 1, Due: -1}
	if size, ok := digits(firstWord(text)); ok && size < 1<<20 {
		s.Size = size
	}
	if at, ok := stamp.Value(); ok { // of the answer
		s.Due = r.series.wall(at - elapsed)
		r.stamped = true
	}
	r.add(n, s)
	return nil
}

func firstWord(text []byte) []byte {
	word, _, _ := bytes.Cut(text, []byte(" "))
	return word
}

// elapsed reads time=1.23 ms, time=14ms or time<1ms.
func (r *pingRun) elapsed(text []byte) (time.Duration, error) {
	i := bytes.LastIndex(text, []byte("time"))
	if i < 0 || i+5 >= len(text) {
		return 0, fmt.Errorf("%s: want time=…", clip(text))
	}
	value := text[i+5:]
	if end := bytes.IndexFunc(value, func(c rune) bool { return (c < '0' || c > '9') && c != '.' }); end >= 0 {
		if rest := bytes.TrimLeft(value[end:], " "); !bytes.HasPrefix(rest, []byte("ms")) {
			return 0, fmt.Errorf("%s: want a time in ms", clip(text[i:]))
		}
		value = value[:end]
	} else {
		return 0, fmt.Errorf("%s: cut off", clip(text[i:]))
	}
	if text[i+4] == '<' {
		r.out.count("1 answer took less than ping prints, and has that as its latency", "%d answers took less than ping prints, and have that as their latency")
	}
	return parseNanos(value, time.Millisecond)
}

// failure is a line that says why there is no answer, or that there is none yet.
func (r *pingRun) failure(text []byte) error {
	n, err := r.number(text)
	if err != nil {
		return err
	}
	s := Sample{Outcome: TimedOut, Due: -1}
	if bytes.Contains(text, []byte("nreachable")) || bytes.Contains(text, []byte("rohibited")) || bytes.Contains(text, []byte("xceeded")) {
		s.Outcome = Refused
	}
	r.add(n, s)
	return nil
}

// summary ends a run: "5 packets transmitted, 4 received, …".
func (r *pingRun) summary(text []byte) {
	sent, ok := digits(firstWord(text))
	if !ok {
		return
	}
	if !r.begun {
		for n := range min(int64(sent), longestGap) { // not one line: none was answered
			r.put(n, r.missing(n))
		}
	} else {
		r.end(r.from + int64(sent))
	}
	if !r.stamped {
		r.out.say("ping tells no times of sending: attempts are taken to be %v apart, so nothing said of instants holds (-D prints them)", r.interval)
	}
	if i := strings.Index(string(text), ", time "); i >= 0 {
		r.series.Header.Set("took", strings.TrimSpace(string(text[i+len(", time "):])))
	}
}
