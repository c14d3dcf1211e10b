package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func kernelEntry() Entry {
	return Entry{
		Name:    "kernel",
		Summary: "the kernel's own clock discipline: adjtimex, read only",
		Places:  []string{""},
		Hint:    "it is asked on Linux",
		at: func(place string) (Daemon, error) {
			if place != "" {
				return nil, errors.New("the kernel has no address")
			}
			return kernel{}, nil
		},
	}
}

type kernel struct{}

// Ask makes one claim.
func (kernel) Ask(_ context.Context, r *Reading) error {
	t, err := readTimex()
	if err != nil {
		return err
	}
	t.fill(r.claim("kernel", ""))
	return nil
}

func (kernel) Close() error { return nil }

// timex is what adjtimex(2) tells when it is told nothing.
type timex struct {
	offset              int64 // still to be slewed; µs, or ns with staNano
	freq                int64 // ppm, 16 bits of it behind the point
	maxerror, esterror  int64 // µs
	status              int32
	constant, precision int64
	tolerance           int64 // as freq
	tick, tai           int64
	state               int
}

// The bits of status, and the state that go into a claim's words, from linux/timex.h.
const (
	staPLL    = 0x0001
	staIns    = 0x0010
	staDel    = 0x0020
	staUnsync = 0x0040
	staNano   = 0x2000
	timeError = 5
)

const (
	// While nobody calls adjtimex the kernel adds 500 ppm to maxerror until it stands at
	// this, which is no error that anybody has found (NTP_PHASE_LIMIT, kernel/time/ntp.c).
	maxerrorCap = 16 * time.Second
	// The kernel slews no more than this at once (MAXPHASE, linux/timex.h).
	offsetLimit = 500 * time.Millisecond
	// Seen on KVM guests for one reading, between good ones: prometheus/node_exporter
	// issue 3764.
	offsetGlitch = 1 << 32 * time.Nanosecond
)

// fill writes the claim. The kernel's offset and frequency are corrections: positive for
// a clock that is slow, or loses. The bound is its maxerror.
func (t *timex) fill(c *datasets.Claim) {
	c.Status = datasets.Synchronised
	if t.status&staUnsync != 0 || t.state == timeError {
		c.Status = datasets.Unsynchronised
	}
	t.fillOffset(c)
	t.fillBound(c)
	c.Frequency = ppm(float64(t.freq) / 65536)
	c.Leap = datasets.Some(t.leap())
	t.addTo(c)
}

// fillOffset takes the offset of a kernel that steers by its own loop. Without one
// (chronyd, and every daemon that slews by the frequency) the field stays 0 whatever the
// clock does, and says nothing.
func (t *timex) fillOffset(c *datasets.Claim) {
	if t.status&staPLL == 0 || t.status&staUnsync != 0 {
		return
	}
	unit := time.Microsecond
	if t.status&staNano != 0 {
		unit = time.Nanosecond
	}
	offset := float64(t.offset) * unit.Seconds()
	switch limit := offsetLimit.Seconds(); {
	case time.Duration(t.offset)*unit == offsetGlitch:
		doubt(c, "the offset is 2^32 ns, a known fault of the kernel under KVM")
	case offset > limit || offset < -limit:
		doubt(c, "the offset is beyond the kernel's own limit of 0.5 s")
	default:
		c.Offset = seconds(offset)
	}
}

func (t *timex) fillBound(c *datasets.Claim) {
	switch limit := maxerrorCap.Microseconds(); {
	case t.maxerror < 0:
		doubt(c, "maxerror is negative")
	case t.maxerror >= limit:
		doubt(c, "maxerror stands at the kernel's cap of 16 s: nobody tells it how far the clock is off")
	default:
		c.Bound = datasets.Some(time.Duration(t.maxerror) * time.Microsecond)
	}
}

func (t *timex) leap() int {
	switch {
	case t.status&staUnsync != 0:
		return 3
	case t.status&staIns != 0:
		return 1
	case t.status&staDel != 0:
		return 2
	}
	return 0
}

func (t *timex) addTo(c *datasets.Claim) {
	states := []string{"TIME_OK", "TIME_INS", "TIME_DEL", "TIME_OOP", "TIME_WAIT", "TIME_ERROR"}
	state := integer(t.state)
	if t.state >= 0 && t.state < len(states) {
		state = states[t.state]
	}
	addFacts(c, []datasets.Field{
		{Key: "state", Value: state},
		{Key: "status", Value: fmt.Sprintf("%#x", uint32(t.status))},
		{Key: "flags", Value: t.flags()},
		{Key: "offset", Value: integer(t.offset)},
		{Key: "freq", Value: integer(t.freq)},
		{Key: "maxerror_us", Value: integer(t.maxerror)},
		{Key: "esterror_us", Value: integer(t.esterror)},
		{Key: "constant", Value: integer(t.constant)},
		{Key: "precision_us", Value: integer(t.precision)},
		{Key: "tolerance", Value: integer(t.tolerance)},
		{Key: "tick_us", Value: integer(t.tick)},
		{Key: "tai", Value: integer(t.tai)},
	})
}

// flags names the bits of status as ntptime does, from bit 0 on.
func (t *timex) flags() string {
	var set []string
	for i, name := range []string{
		"PLL", "PPSFREQ", "PPSTIME", "FLL", "INS", "DEL", "UNSYNC", "FREQHOLD",
		"PPSSIGNAL", "PPSJITTER", "PPSWANDER", "PPSERROR", "CLOCKERR", "NANO", "MODE=1", "CLK=1",
	} {
		if t.status&(1<<i) != 0 {
			set = append(set, name)
		}
	}
	return strings.Join(set, ",")
}
