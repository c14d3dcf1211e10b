package datasets

import "flag"

// chronyd's statistics.log, one series a source: the line through its last measurements.
// Its offset and its frequency are those of the local clock, the other way round than θ.
// A 13th column, the asymmetry, came with chronyd 2.2.
func bindChronyStatistics(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{12, 13}, passed: chronyBanner, valid: isStatistics, row: putStatistics,
		want: "12 or 13, numbers from the 4th on",
	}.bind(fs)
}

func isStatistics(f columns) bool {
	return isDated(f) && allNumbers(f.cell[3:f.n]...) && allDigits(f.cell[9]) && allDigits(f.cell[10]) && allDigits(f.cell[11])
}

func putStatistics(f *columns, out *rows) error {
	wall := chronyTime(f)
	s, first := out.of(f.cell[2], SeriesKind, "chrony statistics.log")
	if first {
		offsetSeries(s.Header, signTurned, "", "standard deviation of the offset, as chronyd estimates it")
		s.Header.Extra = []string{"std_dev_ns", "skew", "samples"}
	}
	p := out.point(s)
	p.At = s.wall(wall)
	p.Offset, p.Error = Some(-f.seconds(4)), Some(f.seconds(5))
	p.Frequency = Some(0 - f.real(6)) // and no negative zero
	p.Extra = f.extra.begin().span(f.seconds(3)).cell(f.cell[7]).cell(f.cell[9]).String()
	return nil
}
