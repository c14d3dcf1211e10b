package daemon

import (
	"math"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// Reading is what one asking of a daemon brought.
type Reading struct {
	Claims []*datasets.Claim
	now    func() (datasets.Instant, datasets.Stamp)
	lost   string
}

// NewReading returns an empty one, whose claims are dated by now.
func NewReading(now func() (datasets.Instant, datasets.Stamp)) *Reading {
	return &Reading{now: now}
}

// claim adds a claim of source, whose answer has come now.
func (r *Reading) claim(source string, status datasets.ClaimStatus) *datasets.Claim {
	c := &datasets.Claim{Source: source, Status: status}
	c.At, c.Wall = r.now()
	r.Claims = append(r.Claims, c)
	return c
}

// sinceWall returns how long before the claim an instant of the same wall clock was.
// Daemons date their last update by the wall clock and by nothing else, so a step of it
// shifts the age; a date in the future gives none, but for the second in which a clock
// that is being slewed may differ from the daemon's idea of it.
func sinceWall(c *datasets.Claim, t time.Time) datasets.Optional[time.Duration] {
	wall, ok := c.Wall.UnixNanos()
	if !ok {
		return datasets.Optional[time.Duration]{}
	}
	age := time.Unix(0, wall).Sub(t)
	if age < -time.Second {
		return datasets.Optional[time.Duration]{}
	}
	return datasets.Some(max(0, age))
}

// longest is more than any daemon can mean, and far from what 64 bits cannot hold.
const longest = 100 * 365 * 24 * time.Hour

// seconds returns s as a duration, and none for what cannot be one.
func seconds(s float64) datasets.Optional[time.Duration] {
	if !(math.Abs(s) <= longest.Seconds()) {
		return datasets.Optional[time.Duration]{}
	}
	return datasets.Some(time.Duration(math.Round(s * 1e9)))
}

// span is seconds of what is never negative.
func span(s float64) datasets.Optional[time.Duration] {
	if s < 0 {
		return datasets.Optional[time.Duration]{}
	}
	return seconds(s)
}

// ppm returns a rate, and none for what cannot be one.
func ppm(r float64) datasets.Optional[datasets.PPB] {
	if !(math.Abs(r) <= 1e6) {
		return datasets.Optional[datasets.PPB]{}
	}
	return datasets.Some(datasets.PPB(math.Round(r * 1e3)))
}

// sum adds limits, and is absent if one of them is.
func sum(limits ...datasets.Optional[time.Duration]) datasets.Optional[time.Duration] {
	var total time.Duration
	for _, l := range limits {
		v, ok := l.Value()
		if !ok {
			return datasets.Optional[time.Duration]{}
		}
		total += v.Abs()
	}
	return datasets.Some(total)
}

// half rounds up: it is part of a limit.
func half(d datasets.Optional[time.Duration]) datasets.Optional[time.Duration] {
	v, ok := d.Value()
	if !ok {
		return d
	}
	return datasets.Some((v.Abs() + 1) / 2)
}

func integer[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](n T) string {
	return strconv.FormatInt(int64(n), 10)
}

// doubt notes a reason not to believe the claim.
func doubt(c *datasets.Claim, why string) {
	if c.Why != "" {
		c.Why += "; "
	}
	c.Why += why
}

const (
	longestValue  = 256
	mostVariables = 256
	// mostFacts keeps a claim on one line of a trace, whatever a daemon says.
	mostFacts = 16 << 10
)

// addFacts writes down what a daemon said, as far as a claim can hold it.
func addFacts(c *datasets.Claim, facts []datasets.Field) {
	for _, f := range facts {
		if len(c.Facts) > mostFacts {
			c.AddFact("cut", "true")
			return
		}
		c.AddFact(f.Key, f.Value)
	}
}

func clipped(text string) string {
	if len(text) > longestValue {
		return text[:longestValue] + "…"
	}
	return text
}
