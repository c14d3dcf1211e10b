package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"time"
)

// rawstats has the four stamps of each exchange that ntpd took, so its rows can be
// checked: seconds since 1900 with nine digits behind the point. NTPsec writes 21 columns,
// classic ntpd fewer behind the sixteenth. The reference id may hold any byte, so that the
// columns are split at single blanks.
func bindRawstats(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isRawstats, byLine(func() dialect { return &rawstats{} }))(fs)
}

type rawstats struct{ f columns }

func isRawstats(head []byte) bool {
	for line := range firstLines(head) {
		if len(line) > 0 {
			var f columns
			return splitRaw(line, &f)
		}
	}
	return false
}

// The first columns, up to the second stamp's own.
const rawLeast = 8

// splitRaw splits at single blanks, and reports whether the line is one of rawstats.
func splitRaw(line []byte, f *columns) bool {
	f.n, f.err = 0, nil
	for f.n < len(f.cell) {
		cell, rest, more := bytes.Cut(line, []byte{' '})
		f.cell[f.n] = cell
		f.n++
		if line = rest; !more {
			break
		}
	}
	return f.n >= rawLeast && isMJD(*f) && allNumbers(f.cell[4:rawLeast]...) && bytes.IndexByte(f.cell[4], '.') == 10
}

func (r *rawstats) line(text []byte, out *rows) error {
	if len(text) == 0 {
		return nil
	}
	f := &r.f
	if !splitRaw(text, f) {
		return fmt.Errorf("%s: want day, second, two addresses and four stamps, seconds since 1900", clip(text))
	}
	wall := ntpdTime(f)
	s, first := out.of(f.cell[2], Exchanges, "ntpd rawstats")
	if first {
		s.Header.Set("stamps", "t1=user t2,t3=user t4=user; where ntpd and the server took them is not in the file")
		if a, err := netip.ParseAddr(string(f.cell[3])); err == nil && a.IsValid() {
			s.Header.Set("local-address", a.String())
		}
	}
	e := out.exchange(s)
	n := s.calls
	s.calls++
	e.Sample = Sample{Seq: n, Call: n, Attempt: 1, Copies: 1, Inflight: 1}
	e.T1, e.T2, e.T3, e.T4 = stamp1900(f, 4, Local), stamp1900(f, 5, Remote), stamp1900(f, 6, Remote), stamp1900(f, 7, Local)
	took, timed := e.WallElapsed()
	if f.err == nil && (!timed || took < 0) {
		e.Outcome, e.Why = Invalid, "T4 is before T1: the local clock was set"
		took = 0
	}
	e.Due = s.wall(wall - took)
	e.Sent, e.Elapsed = e.Due, took
	r.server(f, e)
	return f.err
}

func (*rawstats) end(*rows) error { return nil }

// server reads what the server said of itself, as far as the line has it.
func (r *rawstats) server(f *columns, e *Exchange) {
	if f.n < 16 {
		return
	}
	e.Leap, e.Stratum, e.Precision = Some(f.whole(8)), Some(f.whole(11)), Some(f.whole(13))
	e.RootDelay, e.RootDispersion = Some(f.seconds(14)), Some(f.seconds(15))
	if f.n > 16 {
		e.Reference = printable(f.cell[16])
	}
}

// printable writes a reference id as text, or as the four bytes of an address.
func printable(id []byte) string {
	id = bytes.TrimSuffix(bytes.TrimPrefix(id, []byte{'.'}), []byte{'.'})
	if bytes.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Sprintf("0x%x", id)
	}
	return string(id)
}

// ntp1970 is 1970-01-01 in seconds since 1900 (RFC 5905, figure 4).
const ntp1970 = 2208988800

// stamp1900 reads seconds since 1900.
func stamp1900(f *columns, i int, clock ClockID) Stamp {
	whole, fraction, _ := bytes.Cut(f.cell[i], []byte{'.'})
	var seconds int64
	if err := parseInt(&seconds, whole); err != nil {
		f.fail(i, err)
		return Stamp{}
	}
	nanos, err := parseNanos(append([]byte("0."), fraction...), time.Second)
	if err != nil || seconds < 0 || seconds > 1<<33 {
		f.fail(i, fmt.Errorf("%s: want seconds since 1900", clip(f.cell[i])))
		return Stamp{}
	}
	return NewStamp((seconds-ntp1970)*int64(time.Second)+int64(nanos), clock, User)
}
