// Package twoway is what the two ends of STAMP (RFC 8762) have in common: what the
// packets say of the clock of their host, and the key they are sealed with. The packets
// are those of package wire.
package twoway

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets/wire"
)

// Clock writes times of this host's wall clock as a packet has them, with the error that
// the kernel claims. One goroutine uses it at a time.
type Clock struct {
	ptp      bool
	read     func() (discipline, error)
	asked    int64 // when the kernel was asked, since 1970
	estimate wire.ErrorEstimate
	tai      time.Duration
}

// discipline is what the kernel says of its clock.
type discipline struct {
	synchronised bool
	off          time.Duration // at most
	tai          time.Duration // TAI − UTC; 0 is not known
}

// Formats of times: of NTP, in UTC, or of PTP, in TAI if the kernel knows TAI.
const (
	NTP = "ntp"
	PTP = "ptp"
)

// NewClock returns a clock whose times have that format.
func NewClock(format string) (*Clock, error) {
	if format != NTP && format != PTP {
		return nil, fmt.Errorf("format %q: want %s or %s", format, NTP, PTP)
	}
	return &Clock{ptp: format == PTP, read: readDiscipline}, nil
}

// unknown is what nobody knows to be better: the most that the kernel itself claims
// (include/linux/timex.h: NTP_PHASE_LIMIT), and NTP's limit of dispersion (RFC 5905 §7.1).
const unknown = 16 * time.Second

// Stamp writes a time since 1970, and how far off it may be. The kernel is asked once a
// second: until then its claim grows by half a millisecond at most.
func (c *Clock) Stamp(unixNanos int64) (wire.STAMPTime, wire.ErrorEstimate) {
	if age := unixNanos - c.asked; age >= int64(time.Second) || age < 0 {
		c.asked = unixNanos
		d, err := c.read()
		if err != nil || !d.synchronised {
			d.synchronised, d.off = false, unknown
		}
		c.tai = d.tai
		c.estimate = wire.ErrorEstimateOf(d.off, d.synchronised, c.ptp)
	}
	if c.ptp {
		unixNanos += int64(c.tai)
	}
	return c.estimate.Time(unixNanos), c.estimate
}
