package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ntpq -p prints what ntpd says of its servers, a line each: a tally code glued to the
// name, which may be cut and hold blanks, and nine columns behind it. Times are in
// milliseconds. It does not say when.
func bindNTPQ(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isNTPQ, byLine(func() dialect { return &ntpq{} }))(fs)
}

type ntpq struct{ f columns }

func isNTPQHeader(line []byte) bool {
	var f columns
	f.split(line)
	return f.n == 10 && string(f.cell[0]) == "remote" && string(f.cell[1]) == "refid" && string(f.cell[9]) == "jitter"
}

func isNTPQ(head []byte) bool {
	for line := range firstLines(head) {
		if len(bytes.TrimSpace(line)) > 0 {
			return isNTPQHeader(line)
		}
	}
	return false
}

func (q *ntpq) line(text []byte, out *rows) error {
	if len(bytes.TrimSpace(text)) == 0 || bytes.HasPrefix(text, []byte("====")) || isNTPQHeader(text) {
		return nil
	}
	f := &q.f
	f.split(text)
	if f.n < 10 || f.n > len(f.cell) {
		return fmt.Errorf("%d columns: want a tally code, a name and nine columns", f.n)
	}
	last := f.cell[f.n-9 : f.n]
	name := bytes.TrimSpace(nameBefore(text, last)[1:])
	s, first := out.of(nil, Claims, "ntpq -p")
	if first {
		s.Header.Set("sign", signAsIs)
		out.say("ntpq does not say when it was asked: all instants are 0")
	}
	return fillPeer(out.claim(s), text[0], name, last)
}

// nameBefore returns what stands in front of the words that end a text.
func nameBefore(text []byte, words [][]byte) []byte {
	rest := bytes.TrimRight(text, " \t")
	for _, word := range slices.Backward(words) {
		rest = bytes.TrimRight(rest[:len(rest)-len(word)], " \t")
	}
	return rest
}

func (*ntpq) end(*rows) error { return nil }

// tallies are the codes in front of a name (ntpq(1), "Status word").
func tallies() map[byte]ClaimStatus {
	return map[byte]ClaimStatus{
		' ': Rejected, 'x': Falseticker, '.': Rejected, '-': Rejected, '+': Candidate, '#': Candidate, '*': Selected, 'o': Selected, '~': Rejected,
	}
}

// fillPeer reads refid, stratum, type, when, poll, reach, delay, offset and jitter.
func fillPeer(c *Claim, tally byte, name []byte, cells [][]byte) error {
	status, ok := tallies()[tally]
	if !ok {
		return fmt.Errorf("%q: no tally code of ntpq", tally)
	}
	var f columns
	f.n = copy(f.cell[:], cells)
	c.Source, c.Status, c.Reference = "ntpd "+string(name), status, string(bytes.Trim(cells[0], "."))
	c.Stratum = Some(f.whole(1))
	c.AddFact("reach", string(cells[5]))
	reach, err := strconv.ParseUint(string(cells[5]), 8, 16)
	if err != nil {
		return fmt.Errorf("reach %s: want an octal number", clip(cells[5]))
	}
	if reach == 0 {
		c.Status, c.Why = Unreachable, "never heard, or not for eight polls"
		return f.err
	}
	if age, ok := when(cells[3]); ok {
		c.Age = Some(age)
	}
	c.Offset = Some(f.nanos(7, time.Millisecond))
	c.AddFact("delay", f.nanos(6, time.Millisecond).String())
	c.AddFact("jitter", f.nanos(8, time.Millisecond).String())
	return f.err
}

// when reads how long ago: seconds, or minutes, hours and days by their letter.
func when(cell []byte) (time.Duration, bool) {
	unit := time.Second
	if n := len(cell) - 1; n > 0 {
		switch cell[n] {
		case 'm':
			unit, cell = time.Minute, cell[:n]
		case 'h':
			unit, cell = time.Hour, cell[:n]
		case 'd':
			unit, cell = 24*time.Hour, cell[:n]
		}
	}
	n, ok := digits(cell)
	return time.Duration(n) * unit, ok && n < 1e6
}
