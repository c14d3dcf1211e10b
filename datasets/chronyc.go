package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strconv"
	"strings"
)

// chronyc -c prints one line for each source, numbers in seconds with a comma between
// (chronyc(1)). Which of its reports it is, the columns tell. None says when it was made.
func bindChronyc(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isChronyc, byLine(func() dialect { return &chronyc{} }))(fs)
}

type chronyc struct{ f columns }

// splitCommas splits a line that has no quotes.
func (c *columns) splitCommas(line []byte) {
	c.n, c.err = 0, nil
	for c.n < len(c.cell) {
		cell, rest, more := bytes.Cut(line, []byte{','})
		c.cell[c.n] = cell
		c.n++
		if line = rest; !more {
			return
		}
	}
	c.n++ // there is more
}

func isChronyc(head []byte) bool {
	for line := range firstLines(head) {
		if len(line) > 0 {
			var f columns
			f.splitCommas(line)
			return chronycReport(&f) != nil
		}
	}
	return false
}

func (c *chronyc) line(text []byte, out *rows) error {
	if len(text) == 0 {
		return nil
	}
	c.f.splitCommas(text)
	fill := chronycReport(&c.f)
	if fill == nil {
		return fmt.Errorf("%s: want a line of chronyc -c tracking, sources, sourcestats or ntpdata", clip(text))
	}
	s, first := out.of(nil, Claims, "chronyc -c")
	if first {
		s.Header.Set("sign", "positive is a local clock that is slow, or loses: where chronyc means the opposite, its sign is turned")
		out.say("chronyc does not say when it was asked: all instants are 0")
	}
	fill(&c.f, out.claim(s))
	return c.f.err
}

func (*chronyc) end(*rows) error { return nil }

// chronycReport returns what reads the line, or nil.
func chronycReport(f *columns) func(*columns, *Claim) {
	fits, fill := false, chronycNTPData
	switch f.n {
	case 14:
		fits, fill = isHex(f.cell[0]) && allNumbers(f.cell[2:13]...), chronycTracking
	case 10:
		fits, fill = isChronycSource(f), chronycSource
	case 8:
		fits, fill = len(f.cell[0]) > 0 && !isNumber(f.cell[0]) && allNumbers(f.cell[1:8]...), chronycStats
	default: // it had fewer columns once
		fits = f.n > 30 && f.n <= len(f.cell) && isHex(f.cell[1]) && isHex(f.cell[4])
	}
	if !fits {
		return nil
	}
	return fill
}

func isChronycSource(f *columns) bool {
	return isAnyOf(f.cell[0], "^=#") && isAnyOf(f.cell[1], "*+-?x~") && allNumbers(f.cell[3:10]...)
}

func isAnyOf(cell []byte, letters string) bool {
	return len(cell) == 1 && strings.IndexByte(letters, cell[0]) >= 0
}

func isHex(cell []byte) bool {
	_, err := strconv.ParseUint(string(cell), 16, 32)
	return len(cell) == 8 && err == nil
}

// chronycTracking: refid, name, stratum, reference time, system time, last offset, RMS
// offset, frequency, residual frequency, skew, root delay, root dispersion, interval, leap.
// The system time alone is positive for a clock that is slow.
func chronycTracking(f *columns, c *Claim) {
	c.Source, c.Status, c.Reference = "chronyd", Synchronised, string(f.cell[1])
	c.Stratum, c.Offset = Some(f.whole(2)), Some(f.seconds(4))
	c.Frequency, c.Skew = Some(-f.ppb(7)), Some(f.ppb(9))
	c.RootDelay, c.RootDispersion = Some(f.seconds(10)), Some(f.seconds(11))
	c.AddFact("last-offset", f.seconds(5).String())
	c.AddFact("rms-offset", f.seconds(6).String())
	leap := map[string]int{"Normal": 0, "Insert second": 1, "Delete second": 2, "Not synchronised": 3}
	if l, ok := leap[string(f.cell[13])]; ok {
		c.Leap = Some(l)
	}
	if string(f.cell[13]) == "Not synchronised" {
		c.Status = Unsynchronised
		return
	}
	// chronyc(1), tracking: the bound on the error is |system time| + root dispersion + root delay/2.
	c.Bound = Some(f.seconds(4).Abs() + f.seconds(11) + f.seconds(10)/2)
}

// chronycSource: mode, state, name, stratum, poll, reach, last heard, adjusted offset,
// measured offset, error.
func chronycSource(f *columns, c *Claim) {
	c.Source = "chronyd " + string(f.cell[2])
	c.Status = map[byte]ClaimStatus{'*': Selected, '+': Candidate, '-': Rejected, 'x': Falseticker, '~': Rejected, '?': Unreachable}[f.cell[1][0]]
	c.Stratum = Some(f.whole(3))
	c.AddFact("reach", string(f.cell[5]))
	const never = "4294967295"
	if string(f.cell[6]) == never {
		c.Why = "never heard"
		return
	}
	c.Age = Some(f.seconds(6))
	c.Offset, c.Bound = Some(-f.seconds(7)), Some(f.seconds(7).Abs()+f.seconds(9))
	c.AddFact("measured-offset", f.seconds(8).String())
	c.AddFact("error", f.seconds(9).String())
}

// chronycStats: name, points, runs, span, frequency, skew, offset, standard deviation.
func chronycStats(f *columns, c *Claim) {
	c.Source, c.Status = "chronyd "+string(f.cell[0]), Candidate
	c.AddFact("points", string(f.cell[1]))
	if f.whole(1) == 0 {
		c.Status, c.Why = Unreachable, "never heard"
		return
	}
	c.Frequency, c.Skew, c.Offset = Some(-f.ppb(4)), Some(f.ppb(5)), Some(-f.seconds(6))
	c.AddFact("std-dev", f.seconds(7).String())
}

// chronycNTPData: what the last packet of a server said; its offset is θ.
func chronycNTPData(f *columns, c *Claim) {
	c.Source, c.Status = "chronyd "+string(f.cell[0]), Candidate
	c.Stratum, c.RootDelay, c.RootDispersion, c.Reference = Some(f.whole(8)), Some(f.seconds(13)), Some(f.seconds(14)), string(f.cell[15])
	if bytes.HasPrefix(f.cell[17], []byte("0.000000000")) && f.seconds(18) == 0 && f.seconds(19) == 0 {
		c.Status, c.Why = Unreachable, "never heard"
		return
	}
	c.Offset = Some(f.seconds(18))
	c.AddFact("peer-delay", f.seconds(19).String())
	c.AddFact("peer-dispersion", f.seconds(20).String())
	c.AddFact("response-time", f.seconds(21).String())
}
