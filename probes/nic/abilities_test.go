package nic

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mask sets bit n for each n: tx_types and rx_filters of struct ethtool_ts_info
// (include/uapi/linux/ethtool.h).
func mask[T ~int32](ns ...T) uint32 {
	var m uint32
	for _, n := range ns {
		m |= 1 << n
	}
	return m
}

// The values of SOF_TIMESTAMPING_*, written out from include/uapi/linux/net_tstamp.h.
const (
	kernelBoth  = 1<<1 | 1<<3 | 1<<4
	hardwareAll = 1<<0 | 1<<2 | 1<<6
)

// The masks are made up after what drivers of each sort report.
func TestAbilitiesInWords(t *testing.T) {
	for _, test := range []struct {
		name     string
		stamping uint32
		phc      int32
		tx, rx   uint32
		scope    Scope
		sentence string
		stamps   string
	}{
		{
			"a virtual cable", kernelBoth, -1, 0, 0, Nothing,
			"no hardware stamps: the kernel stamps what leaves and what arrives", "kernel tx rx",
		},
		{
			"a driver that tells no departures", 1<<3 | 1<<4, -1, 0, 0, Nothing,
			"no hardware stamps: the kernel stamps what arrives, but not what leaves (its driver does not tell)", "kernel rx",
		},
		{"nothing at all", 0, -1, 0, 0, Nothing, "no hardware stamps: nor does the kernel stamp anything", "none"},
		{
			"a device that stamps PTP only", kernelBoth | hardwareAll, 0,
			mask(TXOff, TXOn), mask(RXNone, RXPTPv1L4Event, RXPTPv2L4Event, RXPTPv2L2Event), PTPOnly,
			"stamps PTP only: NTP stays kernel (clock /dev/ptp0)",
			"kernel tx rx; hardware PTP only, /dev/ptp0",
		},
		{
			"a device that stamps all", kernelBoth | hardwareAll, 12, mask(TXOff, TXOn), mask(RXNone, RXAll), All,
			"stamps NTP and PTP in hardware (clock /dev/ptp12)",
			"kernel tx rx; hardware all packets, /dev/ptp12",
		},
		{
			"a device with an NTP filter", kernelBoth | hardwareAll, 1, mask(TXOff, TXOn), mask(RXNone, RXPTPv2Event, RXNTPAll), NTPAndPTP,
			"stamps NTP and PTP in hardware (clock /dev/ptp1)",
			"kernel tx rx; hardware NTP and PTP only, /dev/ptp1",
		},
		{
			"a clock of another namespace", kernelBoth | hardwareAll, -1, mask(TXOn), mask(RXAll), All,
			"stamps NTP and PTP in hardware (its clock cannot be reached)",
			"kernel tx rx; hardware all packets",
		},
		{
			"a receiver that cannot be switched on", kernelBoth | hardwareAll, 0, mask(TXOff, TXOn), mask(RXNone), Nothing,
			"no hardware stamps: the kernel stamps what leaves and what arrives", "kernel tx rx",
		},
		{
			"hardware beside a driver that tells no departures", 1<<3 | 1<<4 | hardwareAll, 0, mask(TXOff, TXOn), mask(RXAll), All,
			"stamps NTP and PTP in hardware (clock /dev/ptp0); the kernel stamps what arrives, but not what leaves (its driver does not tell)",
			"kernel rx; hardware all packets, /dev/ptp0",
		},
		{
			"departures in hardware only", kernelBoth | 1<<0 | 1<<6, 0, mask(TXOff, TXOn), mask(RXAll), Nothing,
			"no hardware stamps: the kernel stamps what leaves and what arrives", "kernel tx rx",
		},
		{"stamps that nobody can report", 1<<1 | 1<<3, -1, 0, 0, Nothing, // no SOF_TIMESTAMPING_SOFTWARE
			"no hardware stamps: nor does the kernel stamp anything", "none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var a Abilities
			a.decode(test.stamping, test.phc, test.tx, test.rx)
			if got := a.Hardware(); got != test.scope {
				t.Errorf("hardware: %q, want %q", got, test.scope)
			}
			if got := a.Sentence(); got != test.sentence {
				t.Errorf("got  %s\nwant %s", got, test.sentence)
			}
			if got := a.Stamps(); got != test.stamps {
				t.Errorf("stamps %q, want %q", got, test.stamps)
			}
		})
	}
}

func TestMasksAreListsOfWords(t *testing.T) {
	var a Abilities
	a.decode(0, -1, 1<<0|1<<1|1<<2|1<<3|1<<31, 1<<0|1<<3|1<<12|1<<15|1<<16)
	if diff := cmp.Diff([]string{"off", "on", "onestep-sync", "onestep-p2p", "unknown-31"}, words(a.TX)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"none", "ptpv1-l4-event", "ptpv2-event", "ntp-all", "unknown-16"}, words(a.RX)); diff != "" {
		t.Error(diff)
	}
	if got := Filter(-1).String(); got != "unknown--1" {
		t.Errorf("a filter of -1 is %q", got)
	}
}

func words[T interface{ String() string }](all []T) []string {
	var w []string
	for _, v := range all {
		w = append(w, v.String())
	}
	return w
}

// TestFiltersCoverWhatTheirNamesSay holds Covers to a twin: each filter as the set of
// (version, layer, message) that its comment in net_tstamp.h lists.
func TestFiltersCoverWhatTheirNamesSay(t *testing.T) {
	var all, none []string
	sets := map[Filter][]string{
		RXNone:         none,
		RXPTPv1L4Event: {"1/4/sync", "1/4/req", "1/4/other"}, RXPTPv1L4Sync: {"1/4/sync"}, RXPTPv1L4DelayReq: {"1/4/req"},
		RXPTPv2L4Event: {"2/4/sync", "2/4/req", "2/4/other"}, RXPTPv2L4Sync: {"2/4/sync"}, RXPTPv2L4DelayReq: {"2/4/req"},
		RXPTPv2L2Event: {"2/2/sync", "2/2/req", "2/2/other"}, RXPTPv2L2Sync: {"2/2/sync"}, RXPTPv2L2DelayReq: {"2/2/req"},
		RXPTPv2Sync: {"2/4/sync", "2/2/sync"}, RXPTPv2DelayReq: {"2/4/req", "2/2/req"}, RXNTPAll: {"ntp"},
		RXPTPv2Event: {"2/4/sync", "2/4/req", "2/4/other", "2/2/sync", "2/2/req", "2/2/other"},
	}
	for _, set := range sets {
		all = append(all, set...)
	}
	sets[RXAll] = append(all, "anything else")
	for f, has := range sets {
		for want, needs := range sets {
			subset := !slices.ContainsFunc(needs, func(p string) bool { return !slices.Contains(has, p) })
			if got := f.Covers(want); got != subset {
				t.Errorf("%s covers %s: %t, want %t", f, want, got, subset)
			}
		}
	}
	if RXSome.Covers(RXPTPv2Event) || !RXSome.Covers(RXNone) || !RXAll.Covers(RXSome) || RXPTPv2Event.Covers(RXSome) {
		t.Error(`"some" may be anything, and only all covers it`)
	}
}
