package datasets

import (
	"bytes"
	"flag"
	"fmt"
)

// chronyd's measurements.log, one series a server: what "log measurements" and "log
// rawmeasurements" write. Measurements that failed a test of chronyd's are rows too, and
// invalid; lost ones are not in the log. Up to chronyd 1.29 a line has 16 columns; later
// ones have refid, mode and where the stamps were taken behind them.
func bindChronyMeasurements(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{16, 20}, passed: chronyBanner, valid: isMeasurement, row: putMeasurement,
		want: "16 or 20, with the results of chronyd's tests (111 111 1111) from the 6th on",
	}.bind(fs)
}

func isMeasurement(f columns) bool {
	return isDated(f) && isChronyLeap(f.cell[3]) && isTests(f.cell[5], 3, 4) && isTests(f.cell[6], 3, 3) && isTests(f.cell[7], 4, 4)
}

func isTests(cell []byte, least, most int) bool {
	for _, c := range cell {
		if c != '0' && c != '1' {
			return false
		}
	}
	return len(cell) >= least && len(cell) <= most
}

func putMeasurement(f *columns, out *rows) error {
	wall := chronyTime(f)
	s, first := out.of(f.cell[2], SeriesKind, "chrony measurements.log")
	if first {
		offsetSeries(s.Header, signAsIs, "round trip, without the server's own time", "peer dispersion: stamps and drift")
		s.Header.Extra = []string{"leap", "stratum", "root_delay_ns", "root_dispersion_ns"}
	}
	p := out.point(s)
	p.At = s.wall(wall)
	p.Offset, p.Delay, p.Error = Some(f.seconds(11)), Some(f.seconds(12)), Some(f.seconds(13))
	p.Extra = f.extra.begin().cell(f.cell[3]).cell(f.cell[4]).span(f.seconds(14)).span(f.seconds(15)).String()
	for i, tests := range f.cell[5:8] {
		if !isTests(tests, 3, 4) {
			f.fail(5+i, fmt.Errorf("%s: want the results of chronyd's tests, such as 111", clip(tests)))
			return nil
		}
		if bytes.IndexByte(tests, '0') >= 0 {
			p.Outcome = Invalid
		}
	}
	if p.Outcome == Invalid {
		out.count("1 measurement failed a test of chronyd and is invalid", "%d measurements failed a test of chronyd and are invalid")
	}
	return nil
}
