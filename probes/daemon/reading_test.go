package daemon

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func TestNumbersThatAreNone(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want any
	}{
		{1.5e-9, 2 * time.Nanosecond},
		{-0.25, -250 * time.Millisecond},
		{math.NaN(), nil},
		{math.Inf(-1), nil},
		{4e9, nil}, // 127 years
	} {
		checkCell(t, "seconds", seconds(c.in), c.want)
	}
	checkCell(t, "a negative span", span(-1e-9), nil)
	checkCell(t, "ppm", ppm(-11.0644), datasets.PPB(-11_064))
	checkCell(t, "no rate", ppm(math.NaN()), nil)
	checkCell(t, "a mad rate", ppm(1e7), nil)
	checkCell(t, "half of an odd number", half(datasets.Some(time.Duration(3))), time.Duration(2))
	checkCell(t, "a sum with a hole", sum(datasets.Some(time.Second), datasets.Optional[time.Duration]{}), nil)
}

func TestAgeByTheWall(t *testing.T) {
	c := datasets.Claim{Wall: datasets.NewStamp(100e9, datasets.Local, datasets.User)}
	for _, x := range []struct {
		at   int64
		want any
	}{{40, time.Minute}, {100, time.Duration(0)}, {101, time.Duration(0)}, {102, nil}} {
		checkCell(t, "age", sinceWall(&c, time.Unix(x.at, 0)), x.want)
	}
	checkCell(t, "age without a stamp", sinceWall(&datasets.Claim{}, time.Unix(40, 0)), nil)
}

// However much a daemon says, its claim stays one line that can be read back.
func TestATalkativeDaemonFitsOnALine(t *testing.T) {
	var facts []datasets.Field
	for range 1000 {
		facts = append(facts, datasets.Field{Key: strings.Repeat("k", 64), Value: strings.Repeat("\x00", longestValue)})
	}
	c := datasets.Claim{Source: "ntpd", Status: datasets.Stale}
	addFacts(&c, facts)
	checkClaim(t, &c)
	if _, cut := c.Fact("cut"); !cut {
		t.Error("it does not say that it is cut")
	}
}
