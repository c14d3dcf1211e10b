package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"time"
)

// traceroute prints a line a hop: who answered, how long each of some probes took, a star
// for one that nobody answered. One series a hop and host; probes of a star are of the
// host that answered before it in the line, or of the hop.
func bindTraceroute(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isTraceroute, byLine(func() dialect { return &traceroute{} }))(fs)
}

type traceroute struct {
	hop   []byte
	lines int
}

func isTraceroute(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.HasPrefix(line, []byte("traceroute")) && bytes.Contains(line, []byte(" to ")) && bytes.Contains(line, []byte(" hops max"))
}

func (t *traceroute) line(text []byte, out *rows) error {
	if t.lines++; t.lines == 1 || len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	words := bytes.Fields(text)
	if allDigits(words[0]) {
		t.hop, words = bytes.Clone(words[0]), words[1:]
	}
	if t.hop == nil {
		return fmt.Errorf("%s: want the number of a hop", clip(text))
	}
	return t.probes(words, out)
}

// probes reads what stands behind the number of a hop: hosts, times and stars.
func (t *traceroute) probes(words [][]byte, out *rows) error {
	var host []byte
	for i, word := range words {
		switch {
		case string(word) == "*":
			row := out.sample(t.series(host, out))
			row.Outcome, row.Copies = TimedOut, 0
		case string(word) == "ms", word[0] == '!', word[0] == '[':
			// the unit of the word before, why it was refused, an autonomous system
		case i+1 < len(words) && string(words[i+1]) == "ms":
			elapsed, err := parseNanos(word, time.Millisecond)
			if err != nil || elapsed < 0 {
				return fmt.Errorf("%s: want a time in ms", clip(word))
			}
			out.sample(t.series(host, out)).Elapsed = elapsed
		default: // the address in brackets stands behind the name
			host = bytes.Trim(word, "()")
		}
	}
	return nil
}

func (t *traceroute) series(host []byte, out *rows) *Series {
	name := append([]byte("hop "), t.hop...)
	if host != nil {
		name = append(append(name, ' '), host...)
	}
	s, first := out.of(name, RTT, "traceroute")
	if first {
		out.say("traceroute tells no times of sending: nothing said of instants holds, and every router answers when it likes")
	}
	return s
}

func (*traceroute) end(*rows) error { return nil }
