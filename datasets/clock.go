package datasets

import (
	"strconv"
	"time"
)

// ClockReading is the four clocks of one host read together: a row of a clock trace.
type ClockReading struct {
	At        Instant       // middle of the reading
	Realtime  Stamp         // CLOCK_REALTIME
	Monotonic time.Duration // CLOCK_MONOTONIC, since its own start
	Raw       time.Duration // CLOCK_MONOTONIC_RAW
	Boottime  time.Duration // CLOCK_BOOTTIME, which counts suspended time
	Width     time.Duration // time the whole reading took: its uncertainty
	Extra     string        // cells of columns this version does not know, tab-separated
}

// Kind returns Clocks.
func (c *ClockReading) Kind() Kind { return Clocks }

func (c *ClockReading) columns() []string {
	return []string{"at", "realtime", "monotonic", "raw", "boottime", "width"}
}

func (c *ClockReading) parse(column int, text []byte) error {
	switch column {
	case 0:
		return parseInt(&c.At, text)
	case 1:
		return parseStamp(&c.Realtime, Local, text)
	case 2:
		return parseInt(&c.Monotonic, text)
	case 3:
		return parseInt(&c.Raw, text)
	case 4:
		return parseInt(&c.Boottime, text)
	default:
		return parseInt(&c.Width, text)
	}
}

func (c *ClockReading) append(dst []byte, column int) []byte {
	switch column {
	case 0:
		return strconv.AppendInt(dst, int64(c.At), 10)
	case 1:
		return appendStamp(dst, c.Realtime)
	case 2:
		return strconv.AppendInt(dst, int64(c.Monotonic), 10)
	case 3:
		return strconv.AppendInt(dst, int64(c.Raw), 10)
	case 4:
		return strconv.AppendInt(dst, int64(c.Boottime), 10)
	default:
		return strconv.AppendInt(dst, int64(c.Width), 10)
	}
}

func (c *ClockReading) fields() []any {
	return []any{
		whole[Instant]{&c.At},
		stamped{&c.Realtime, Local},
		whole[time.Duration]{&c.Monotonic},
		whole[time.Duration]{&c.Raw},
		whole[time.Duration]{&c.Boottime},
		whole[time.Duration]{&c.Width},
	}
}

func (c *ClockReading) extra() *string { return &c.Extra }
func (c *ClockReading) reset()         { *c = ClockReading{} }
