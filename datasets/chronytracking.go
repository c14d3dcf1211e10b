package datasets

import (
	"bytes"
	"flag"
	"fmt"
)

// chronyd's tracking.log: what it says of the clock that it steers, which is a claim. From
// chronyd 2.2 on a line has 14 columns, the last of which is its own limit of the error.
func bindChronyTracking(fs *flag.FlagSet) func() (Format, error) {
	return columnLog{
		counts: []int{11, 14}, passed: chronyBanner, valid: isTracking, row: putTracking,
		want: "11 or 14, the 8th of which is a leap status (N, +, - or ?)",
	}.bind(fs)
}

func isTracking(f columns) bool {
	return isDated(f) && allDigits(f.cell[3]) && allNumbers(f.cell[4:7]...) && isChronyLeap(f.cell[7]) && allDigits(f.cell[8])
}

func putTracking(f *columns, out *rows) error {
	wall := chronyTime(f)
	s, first := out.of(nil, Claims, "chrony tracking.log")
	if first {
		s.Header.Set("sign", signTurned)
	}
	c := out.claim(s)
	c.At, c.Wall = s.wall(wall), NewStamp(int64(wall), Local, User)
	c.Source, c.Status, c.Reference = "chronyd", Synchronised, string(f.cell[2])
	c.Stratum = Some(f.whole(3))
	c.Frequency, c.Skew, c.Offset = Some(-f.ppb(4)), Some(f.ppb(5)), Some(-f.seconds(6))
	if f.n == 14 {
		c.RootDelay, c.RootDispersion, c.Bound = Some(f.seconds(11)), Some(f.seconds(12)), Some(f.seconds(13))
	}
	if !isChronyLeap(f.cell[7]) {
		f.fail(7, fmt.Errorf("%s: want a leap status (N, +, - or ?)", clip(f.cell[7])))
		return nil
	}
	c.Leap = chronyLeap(f.cell[7])
	if f.cell[7][0] == '?' || bytes.Equal(f.cell[2], []byte("0.0.0.0")) {
		c.Status, c.Reference = Unsynchronised, ""
	}
	return nil
}
