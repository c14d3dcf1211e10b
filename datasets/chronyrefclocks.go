package datasets

import (
	"flag"
	"slices"
)

// chronyd's refclocks.log, written from its manual: two series for each clock, its samples
// and what the filter made of them at each poll, which has no number.
func bindChronyRefclocks(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{9}, passed: chronyBanner, valid: isRefclock, row: putRefclock,
		want: "9: date, time, clock, number, leap status, PPS, raw offset, offset, dispersion",
	}.bind(fs)
}

func isRefclock(f columns) bool {
	return isDated(f) && isChronyLeap(f.cell[4]) && isNumberOrNone(f.cell[3]) && isNumberOrNone(f.cell[6]) && allNumbers(f.cell[7:9]...)
}

func isNumberOrNone(cell []byte) bool { return isNumber(cell) || isAbsent(cell) }

func putRefclock(f *columns, out *rows) error {
	wall := chronyTime(f)
	name := f.cell[2]
	if isAbsent(f.cell[3]) {
		name = append(slices.Clone(name), " filtered"...)
	}
	s, first := out.of(name, SeriesKind, "chrony refclocks.log")
	if first {
		offsetSeries(s.Header, signAsIs, "", "dispersion")
		s.Header.Extra = []string{"leap", "pps"}
	}
	p := out.point(s)
	p.At = s.wall(wall)
	p.Offset, p.Error = Some(f.seconds(7)), Some(f.seconds(8))
	p.Extra = f.extra.begin().cell(f.cell[4]).cell(f.cell[5]).String()
	return nil
}
