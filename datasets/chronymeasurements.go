package datasets

import (
	"bytes"
	"flag"
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
	return len(cell) >= least && len(cell) <= most && len(bytes.Trim(cell, "01")) == 0
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
	p.Extra = extraCells(f.cell[3], f.cell[4], f.seconds(14), f.seconds(15))
	for _, tests := range f.cell[5:8] {
		if bytes.IndexByte(tests, '0') >= 0 {
			p.Outcome = Invalid
		}
	}
	if p.Outcome == Invalid {
		out.count("1 measurement failed a test of chronyd and is invalid", "%d measurements failed a test of chronyd and are invalid")
	}
	return nil
}
