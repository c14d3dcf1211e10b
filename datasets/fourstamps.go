package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A CSV table of exchanges: columns t1, t2, t3 and t4, seconds since 1970, client, server,
// server, client. Other columns, such as an offset that somebody computed of them, are
// left out: it is computed anew.
func bindFourStamps(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isFourStamps, byLine(func() dialect { return &fourStamps{} }))(fs)
}

type fourStamps struct {
	f     columns
	at    [4]int // where the stamps stand
	names int    // 0 before they were read
}

// stampColumns finds t1 to t4 among the names of a line, whatever unit stands behind them.
func stampColumns(line []byte) (at [4]int, names int) {
	words := strings.FieldsFunc(string(line), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	for i, name := range []string{"t1", "t2", "t3", "t4"} {
		at[i] = slices.IndexFunc(words, func(w string) bool {
			w, _, _ = strings.Cut(strings.ToLower(w), "[")
			return w == name
		})
		if at[i] < 0 {
			return at, 0
		}
	}
	return at, len(words)
}

func isFourStamps(head []byte) bool {
	n := 0
	for line := range firstLines(head) {
		if _, names := stampColumns(line); names > 0 {
			return true
		}
		if n++; n == 5 {
			break
		}
	}
	return false
}

func (s *fourStamps) line(text []byte, out *rows) error {
	if at, names := stampColumns(text); names > 0 {
		s.at, s.names = at, names
		return nil
	}
	if len(bytes.Trim(text, "= \t")) == 0 {
		return nil
	}
	f := &s.f
	f.splitCommas(text)
	if f.n != s.names {
		return fmt.Errorf("%d columns: want the %d that are named in a line above, t1, t2, t3 and t4 among them", f.n, s.names)
	}
	series, first := out.of(nil, Exchanges, "table of t1 to t4")
	if first {
		series.Header.Set("stamps", "t1=user t2,t3=user t4=user; where they were taken is not in the file")
	}
	e := out.exchange(series)
	n := series.calls
	series.calls++
	t := func(i int) int64 { return int64(f.seconds(s.at[i])) }
	e.T1, e.T2, e.T3, e.T4 = NewStamp(t(0), Local, User), NewStamp(t(1), Remote, User), NewStamp(t(2), Remote, User), NewStamp(t(3), Local, User)
	e.Sample = Sample{Seq: n, Call: n, Attempt: 1, Copies: 1, Inflight: 1, Due: series.wall(time.Duration(t(0)))}
	e.Sent = e.Due
	if took, _ := e.WallElapsed(); took >= 0 {
		e.Elapsed = took
	} else {
		e.Outcome, e.Why = Invalid, "T4 is before T1: the local clock was set"
	}
	return f.err
}

func (*fourStamps) end(*rows) error { return nil }
