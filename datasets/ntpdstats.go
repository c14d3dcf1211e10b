package datasets

import (
	"bytes"
	"flag"
	"fmt"
	"strconv"
	"time"
)

// What the statistics files of ntpd and ntpsec have in common (their monitoring options):
// they begin with a Modified Julian Day and the second of it, UTC. Only samples that ntpd
// took are there.

func ntpdTime(f *columns) time.Duration {
	t, ok := parseMJD(f.cell[0], f.cell[1])
	if !ok {
		f.fail(0, fmt.Errorf("%s: want a Modified Julian Day and the second of it", clip(bytes.Join(f.cell[:2], []byte{' '}))))
	}
	return t
}

func isMJD(f columns) bool {
	_, ok := parseMJD(f.cell[0], f.cell[1])
	return ok && len(f.cell[0]) == 5
}

// loopstats: the loop that steers the clock.
func bindLoopstats(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{7}, want: "7 numbers", row: putLoop,
		valid: func(f columns) bool { return isMJD(f) && allNumbers(f.cell[2:7]...) && allDigits(f.cell[6]) },
	}.bind(fs)
}

func putLoop(f *columns, out *rows) error {
	wall := ntpdTime(f)
	s, first := out.of(nil, SeriesKind, "ntpd loopstats")
	if first {
		offsetSeries(s.Header, signAsIs+"; the frequency is what the kernel's clock is told, which it loses", "", "jitter: root mean square of the last offsets")
		s.Header.Extra = []string{"wander_ppb", "time_constant"}
	}
	p := out.point(s)
	p.At = s.wall(wall)
	p.Offset, p.Error = Some(f.seconds(2)), Some(f.seconds(4))
	p.Frequency = Some(float64(f.nanos(3, time.Millisecond)) * 1e-12)
	p.Extra = f.extra.begin().whole(int64(f.ppb(5))).cell(f.cell[6]).String()
	return nil
}

// peerstats: each sample of each server. Versions before 4.2 write no jitter.
func bindPeerstats(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{7, 8}, want: "7 or 8: day, second, server, status, offset, delay, dispersion, jitter", row: putPeer,
		valid: func(f columns) bool {
			_, err := strconv.ParseUint(string(f.cell[3]), 16, 16)
			return isMJD(f) && err == nil && !isNumber(f.cell[2]) && allNumbers(f.cell[4:f.n]...)
		},
	}.bind(fs)
}

func putPeer(f *columns, out *rows) error {
	wall := ntpdTime(f)
	s, first := out.of(f.cell[2], SeriesKind, "ntpd peerstats")
	if first {
		offsetSeries(s.Header, signAsIs, "round trip, without the server's own time", "dispersion")
		s.Header.Extra = []string{"jitter_ns"}
	}
	p := out.point(s)
	p.At = s.wall(wall)
	p.Offset, p.Delay, p.Error = Some(f.seconds(4)), Some(f.seconds(5)), Some(f.seconds(6))
	p.Status = peerSelection(f.cell[3])
	p.Extra = "-"
	if f.n == 8 {
		p.Extra = f.extra.begin().span(f.seconds(7)).String()
	}
	return nil
}

// peerSelection is the selection in a peer's status word (RFC 9327 §4.2 and its figure 6).
func peerSelection(hex []byte) string {
	status, _ := strconv.ParseUint(string(hex), 16, 16)
	return [...]string{"reject", "falsetick", "excess", "outlier", "candidate", "backup", "sys.peer", "pps.peer"}[status>>8&7]
}
