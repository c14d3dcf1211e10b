package daemon

import (
	"math"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// stalePolls is after how many polls without an answer ClockBound stops to believe
// chronyd, which itself goes on saying that it is synchronised.
const stalePolls = 8

// outdate calls what a daemon says stale, if its source is asked every poll and has been
// quiet for too long.
func outdate(c *datasets.Claim, poll time.Duration) {
	age, ok := c.Age.Value()
	if ok && c.Status == datasets.Synchronised && poll > 0 && age/stalePolls > poll {
		c.Status = datasets.Stale
		doubt(c, "no update for 8 polls of its source")
	}
}

// pollInterval is NTP's way to write one: 2^n seconds.
func pollInterval(n int) time.Duration {
	if n < -7 || n > 24 { // as far as chrony and RFC 5905 go
		return 0
	}
	return time.Duration(math.Ldexp(float64(time.Second), n))
}
