package probes

import "time"

// crossStamp is one reading of a PHC between two of the system clock, in nanoseconds
// since each one's 1970.
type crossStamp struct{ before, phc, after int64 }

func (c crossStamp) width() time.Duration { return time.Duration(c.after - c.before) }

// ahead returns the limits of what the PHC was ahead of the system clock by: it was
// read no earlier than before and no later than after.
func (c crossStamp) ahead() (least, most int64) { return c.phc - c.after, c.phc - c.before }

// narrowest returns the reading that was interrupted least, and the widest's width. A
// reading whose end is before its beginning saw the system clock step, and is only
// returned if there is no other.
func narrowest(all []crossStamp) (best crossStamp, widest time.Duration) {
	best = all[0]
	for _, c := range all {
		if widest = max(widest, c.width()); c.width() >= 0 && (c.width() < best.width() || best.width() < 0) {
			best = c
		}
	}
	return best, widest
}

// by brings c from the system clock to a reference that was read against it before and
// after c. At c.before the reference was ahead of the system clock by no less than the
// least of both readings, and at c.after by no more than the most of both: they are the
// ends of the result, which is thus as wide as c, as the reference's own reading, and
// as what the two clocks drifted apart meanwhile. That holds whatever their rates are,
// as long as it was all in one direction; a step of the system clock is covered too.
// The middle assumes that c lies in the middle of the two, and a rate of 20 ppm over
// the 20 µs that this takes is 0.4 ns.
func (c crossStamp) by(earlier, later crossStamp) crossStamp {
	least1, most1 := earlier.ahead()
	least2, most2 := later.ahead()
	return crossStamp{c.before + min(least1, least2), c.phc, c.after + max(most1, most2)}
}
