package datasets

import "time"

// CountsTAI reports whether an offset looks like that of a clock that counts TAI where
// UTC was expected, or the other way round: close to a whole number of seconds from 30
// to 40 (37 since 2017).
func CountsTAI(theta time.Duration) bool {
	const near = 50 * time.Millisecond
	size := theta.Abs()
	return size > 30*time.Second-near && size < 40*time.Second+near && (size-size.Round(time.Second)).Abs() < near
}
