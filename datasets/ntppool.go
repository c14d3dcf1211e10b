package datasets

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"
)

// The scores of a server of the NTP pool as its site exports them
// (ntppool.org/scores/ADDRESS/log): newest first, a line for each time that a monitor asked
// the server. One series a monitor; θ is that of the monitor.
func bindNTPPool(fs *flag.FlagSet) func() (Format, error) {
	return bindForeign(isNTPPool, byLine(func() dialect { return &ntpPool{} }))(fs)
}

const poolHeader = "ts_epoch,ts,offset,step,score,monitor_id,monitor_name,rtt,leap,error"

// mostScores is how many lines are kept, to be handed over oldest first.
const mostScores = 1 << 20

type ntpPool struct {
	f    columns
	seen []score
}

type score struct {
	wall    time.Duration
	monitor string
	point   Point
}

func isNTPPool(head []byte) bool { return bytes.HasPrefix(head, []byte(poolHeader)) }

func (p *ntpPool) line(text []byte, out *rows) error {
	if len(text) == 0 || isNTPPool(text) {
		return nil
	}
	f := &p.f
	f.splitCommas(text)
	switch {
	case f.n < 10 || f.n > len(f.cell):
		return fmt.Errorf("%d columns: want %s", f.n, poolHeader)
	case string(f.cell[6]) == "recentmedian":
		out.count("1 line is the pool's median of all monitors, and left out", "%d lines are the pool's median of all monitors, and left out")
		return nil
	case len(f.cell[6]) == 0 || isNumber(f.cell[6]) || !allDigits(f.cell[5]):
		return fmt.Errorf("%s: want a monitor's number and name in columns 6 and 7", clip(text))
	case len(p.seen) == mostScores:
		return errors.New("too many lines to be turned round: want no more than 1,048,576")
	}
	row := score{wall: f.seconds(0), monitor: string(f.cell[6])}
	row.point.Status = string(bytes.Join(f.cell[9:f.n], []byte{','}))
	if len(f.cell[2]) == 0 {
		row.point.Outcome = TimedOut // its rtt of 0 is none
	} else {
		row.point.Offset, row.point.Delay = Some(f.seconds(2)), Some(f.nanos(7, time.Millisecond))
	}
	row.point.Extra = f.extra.begin().cell(f.cell[3]).cell(f.cell[4]).String()
	if f.err == nil {
		p.seen = append(p.seen, row)
	}
	return f.err
}

func (p *ntpPool) end(out *rows) error {
	for _, row := range slices.Backward(p.seen) {
		s, first := out.of([]byte(row.monitor), SeriesKind, "NTP pool scores")
		if first {
			offsetSeries(s.Header, "positive is a monitor whose clock is slow against the server's, as the pool writes it", "round trip", "")
			s.Header.Extra = []string{"step", "score"}
		}
		point := out.point(s)
		*point = row.point
		point.At = s.wall(row.wall)
	}
	p.seen = nil
	return nil
}
