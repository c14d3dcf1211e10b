package daemon

import (
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

func TestKernelClaims(t *testing.T) {
	const pll = staPLL | staNano
	for _, c := range []struct {
		name      string
		in        timex
		status    datasets.ClaimStatus
		offset    any
		bound     any
		frequency datasets.PPB
		why       string
	}{
		// 7.972 ppm and 496 µs as ntptime printed them: ntp-missing-author-attribution PR 29;
		// 7.972 × 65536 = 522453.
		{
			"ntpd, nanoseconds",
			timex{offset: 1234567, freq: 522453, maxerror: 496, status: pll},
			datasets.Synchronised, 1234567 * time.Nanosecond, 496 * time.Microsecond, 7972, "",
		},
		{
			"ntpd, microseconds",
			timex{offset: -1234, freq: -65536, maxerror: 496, status: staPLL},
			datasets.Synchronised, -1234 * time.Microsecond, 496 * time.Microsecond, -1000, "",
		},
		{
			"no loop of the kernel's own: its offset is always 0",
			timex{maxerror: 1500, status: staNano},
			datasets.Synchronised, nil, 1500 * time.Microsecond, 0, "",
		},
		{
			// node_exporter issues 2941 and 3362: 16 s for ever.
			"nobody tells it",
			timex{maxerror: 16_000_000, esterror: 16_000_000, status: staUnsync, state: timeError},
			datasets.Unsynchronised, nil, nil, 0, "maxerror stands at the kernel's cap of 16 s: nobody tells it how far the clock is off",
		},
		{
			"a daemon that died",
			timex{maxerror: 16_000_000, status: pll},
			datasets.Synchronised, time.Duration(0), nil, 0, "maxerror stands at the kernel's cap of 16 s: nobody tells it how far the clock is off",
		},
		{
			// node_exporter issue 3764: 4.294967296 s for one reading.
			"KVM's glitch",
			timex{offset: 1 << 32, maxerror: 10, status: pll},
			datasets.Synchronised, nil, 10 * time.Microsecond, 0, "the offset is 2^32 ns, a known fault of the kernel under KVM",
		},
		{
			"beyond the loop",
			timex{offset: 500_000_001, maxerror: 10, status: pll},
			datasets.Synchronised, nil, 10 * time.Microsecond, 0, "the offset is beyond the kernel's own limit of 0.5 s",
		},
		{
			"at its limit",
			timex{offset: -500_000, maxerror: 10, status: staPLL},
			datasets.Synchronised, -500 * time.Millisecond, 10 * time.Microsecond, 0, "",
		},
		{
			"a negative limit",
			timex{maxerror: -4, status: pll},
			datasets.Synchronised, time.Duration(0), nil, 0, "maxerror is negative",
		},
		{
			"chronyd without rtcsync",
			timex{maxerror: 20, status: staUnsync, state: timeError},
			datasets.Unsynchronised, nil, 20 * time.Microsecond, 0, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got datasets.Claim
			c.in.fill(&got)
			if got.Status != c.status || got.Why != c.why {
				t.Errorf("status %q, why %q: want %q, %q", got.Status, got.Why, c.status, c.why)
			}
			checkCell(t, "offset", got.Offset, c.offset)
			checkCell(t, "bound", got.Bound, c.bound)
			checkCell(t, "frequency", got.Frequency, c.frequency)
		})
	}
}

func TestKernelLeapAndFlags(t *testing.T) {
	for _, c := range []struct {
		status int32
		leap   int
		flags  string
	}{
		{0x2001, 0, "PLL,NANO"}, // ntptime's own line: status 0x2001 (PLL,NANO)
		{staIns, 1, "INS"},
		{staDel, 2, "DEL"},
		{staIns | staUnsync, 3, "INS,UNSYNC"},
		{0, 0, ""},
	} {
		in := timex{status: c.status}
		var got datasets.Claim
		in.fill(&got)
		flags, _ := got.Fact("flags")
		if flags != c.flags {
			t.Errorf("%#x: flags %q, want %q", c.status, flags, c.flags)
		}
		checkCell(t, "leap", got.Leap, c.leap)
	}
}

// checkCell holds an optional value to one, or to nil for none.
func checkCell[T comparable](t *testing.T, what string, got datasets.Optional[T], want any) {
	t.Helper()
	v, ok := got.Value()
	switch {
	case want == nil && ok:
		t.Errorf("%s %v, want none", what, v)
	case want != nil && (!ok || any(v) != want):
		t.Errorf("%s %v (there: %v), want %v", what, v, ok, want)
	}
}
