package datasets

import (
	"encoding/binary"
	"time"
)

// A row of an rtt trace as this version writes it is read in one go, without a call for
// each cell; whatever it holds that is not plain is left to the slow way, which says what
// is wrong. Both give the same rows, which FuzzSampleLine holds.

// parseLine reads a line of exactly this version's columns, and returns false if it has to
// be read the slow way.
func (s *Sample) parseLine(line []byte) bool {
	c := cellCursor{line: line}
	*s = Sample{Seq: c.whole(), Call: c.whole(), Attempt: int(c.whole()), Due: Instant(c.whole()), Sent: Instant(c.whole())}
	elapsed, timed := c.optional()
	s.Elapsed = time.Duration(elapsed)
	s.Outcome = c.outcome()
	if !timed && s.Outcome.Answered() {
		return false
	}
	if status, ok := c.optional(); ok {
		s.Status = Some(int(status))
	}
	s.Copies = int(c.whole())
	if deadline, ok := c.optional(); ok {
		s.Deadline = Some(time.Duration(deadline))
	}
	s.Stall, s.Inflight, s.Size = time.Duration(c.whole()), int(c.whole()), int(c.whole())
	return !c.odd && c.at == len(line)+1
}

// cellCursor goes over the cells of a line. At the end it stands behind the tab that would
// follow the last one.
type cellCursor struct {
	line []byte
	at   int
	odd  bool // something is not plain
}

// mostDigits is how many digits any number of 64 bits may have without a thought.
const mostDigits = 18

// whole reads a whole number and the tab behind it.
func (c *cellCursor) whole() int64 {
	line, i := c.line, c.at
	if i >= len(line) {
		c.odd = true
		return 0
	}
	if d := line[i] - '0'; d <= 9 && i+1 < len(line) && line[i+1] == '\t' { // one digit
		c.at = i + 2
		return int64(d)
	}
	return c.number()
}

// number reads one of several digits, or with a sign.
func (c *cellCursor) number() int64 {
	line, i := c.line, c.at
	negative := line[i] == '-'
	if negative {
		i++
	}
	start, n := i, int64(0)
	for i+8 <= len(line) {
		eight, ok := eightDigits(binary.LittleEndian.Uint64(line[i:]))
		if !ok {
			break
		}
		n = n*100_000_000 + eight
		i += 8
	}
	for i < len(line) {
		d := line[i] - '0'
		if d > 9 {
			break
		}
		n = n*10 + int64(d)
		i++
	}
	if i == start || i-start > mostDigits || i < len(line) && line[i] != '\t' {
		c.odd = true
	}
	c.at = i + 1
	if negative {
		return -n
	}
	return n
}

// eightDigits reads the eight bytes of a word as digits, the first one lowest, all at once:
// pairs of digits, then pairs of those, then pairs of those.
func eightDigits(word uint64) (int64, bool) {
	const ascii = 0x3030303030303030
	digits := word - ascii
	if (word+0x4646464646464646|digits)&0x8080808080808080 != 0 {
		return 0, false
	}
	digits = digits*10 + digits>>8
	const pair, first, second = 0x000000ff000000ff, 100 + 1_000_000<<32, 1 + 10_000<<32
	return int64((digits&pair*first + digits>>16&pair*second) >> 32), true
}

// optional is whole for a cell that may be absent.
func (c *cellCursor) optional() (int64, bool) {
	if i := c.at; i < len(c.line) && c.line[i] == '-' && (i+1 == len(c.line) || c.line[i+1] == '\t') {
		c.at = i + 2
		return 0, false
	}
	return c.whole(), true
}

func (c *cellCursor) outcome() Outcome {
	for i := c.at; i < len(c.line); i++ {
		if c.line[i] != '\t' {
			continue
		}
		word := c.line[c.at:i]
		c.at = i + 1
		if string(word) == "replied" { // most are
			return Replied
		}
		var o Outcome
		if parseOutcome(&o, word) != nil {
			c.odd = true
		}
		return o
	}
	c.odd = true
	return Invalid
}
