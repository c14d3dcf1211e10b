package datasets

import (
	"flag"
	"time"
)

// chronyd's selection.log (from 4.2 on), one series a source: between which limits the
// error of the local clock lies as that source has it, and what came of it. The point is
// the middle of them.
func bindChronySelection(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{10}, passed: chronyBanner, valid: isSelection, row: putSelection,
		want: "10, the state in the 4th and numbers from the 6th on",
	}.bind(fs)
}

func isSelection(f columns) bool {
	return isDated(f) && len(f.cell[3]) == 1 && !isNumber(f.cell[4]) && len(f.cell[5]) <= 3 && allNumbers(f.cell[5:10]...)
}

func putSelection(f *columns, out *rows) error {
	wall := chronyTime(f)
	s, first := out.of(f.cell[2], SeriesKind, "chrony selection.log")
	if first {
		offsetSeries(s.Header, signTurned+"; the middle of the source's limits", "", "half of the distance of the source's limits: no statistical one")
		s.Header.Extra = []string{"options", "reach", "score", "age_ns"}
	}
	lower, upper := f.seconds(8), f.seconds(9)
	p := out.point(s)
	p.At = s.wall(wall)
	p.Offset, p.Error = Some(-(lower/2 + upper/2)), Some((upper-lower+time.Nanosecond)/2)
	p.Status = string(f.cell[3])
	p.Extra = f.extra.begin().cell(f.cell[4]).cell(f.cell[5]).cell(f.cell[6]).span(f.seconds(7)).String()
	return nil
}
