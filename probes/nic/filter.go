package nic

import (
	"slices"
	"strconv"
)

// TXType is what the hardware does with packets that leave; the numbers and words are
// those of Linux (include/uapi/linux/net_tstamp.h, `ethtool -T`).
type TXType int32

// The transmit types. One-step hardware writes the stamp into a Sync packet itself,
// and does not report it.
const (
	TXOff TXType = iota
	TXOn
	TXOneStepSync
	TXOneStepP2P
)

func (t TXType) String() string {
	return wordOf([]string{"off", "on", "onestep-sync", "onestep-p2p"}, int32(t))
}

// Filter is which arriving packets the hardware stamps.
type Filter int32

// The receive filters. An event packet of PTP is one whose times are measured.
const (
	RXNone Filter = iota
	RXAll
	RXSome
	RXPTPv1L4Event
	RXPTPv1L4Sync
	RXPTPv1L4DelayReq
	RXPTPv2L4Event
	RXPTPv2L4Sync
	RXPTPv2L4DelayReq
	RXPTPv2L2Event
	RXPTPv2L2Sync
	RXPTPv2L2DelayReq
	RXPTPv2Event
	RXPTPv2Sync
	RXPTPv2DelayReq
	RXNTPAll
)

func (f Filter) String() string {
	return wordOf([]string{
		"none", "all", "some", "ptpv1-l4-event", "ptpv1-l4-sync", "ptpv1-l4-delay-req",
		"ptpv2-l4-event", "ptpv2-l4-sync", "ptpv2-l4-delay-req", "ptpv2-l2-event", "ptpv2-l2-sync",
		"ptpv2-l2-delay-req", "ptpv2-event", "ptpv2-sync", "ptpv2-delay-req", "ntp-all",
	}, int32(f))
}

// ptp reports whether f is for PTP packets only.
func (f Filter) ptp() bool { return f >= RXPTPv1L4Event && f <= RXPTPv2DelayReq }

// Covers reports whether every packet that want stamps is stamped by f too. It knows
// nothing of "some", which may be anything.
func (f Filter) Covers(want Filter) bool {
	if f == want || f == RXAll || want == RXNone {
		return true
	}
	return slices.Contains(f.narrower(), want)
}

// narrower returns the filters for a part of what f is for.
func (f Filter) narrower() []Filter {
	switch f {
	case RXPTPv1L4Event:
		return []Filter{RXPTPv1L4Sync, RXPTPv1L4DelayReq}
	case RXPTPv2L4Event:
		return []Filter{RXPTPv2L4Sync, RXPTPv2L4DelayReq}
	case RXPTPv2L2Event:
		return []Filter{RXPTPv2L2Sync, RXPTPv2L2DelayReq}
	case RXPTPv2Event:
		return []Filter{
			RXPTPv2L4Event, RXPTPv2L4Sync, RXPTPv2L4DelayReq, RXPTPv2L2Event, RXPTPv2L2Sync, RXPTPv2L2DelayReq,
			RXPTPv2Sync, RXPTPv2DelayReq,
		}
	case RXPTPv2Sync:
		return []Filter{RXPTPv2L4Sync, RXPTPv2L2Sync}
	case RXPTPv2DelayReq:
		return []Filter{RXPTPv2L4DelayReq, RXPTPv2L2DelayReq}
	default:
		return nil
	}
}

func wordOf(words []string, n int32) string {
	if n >= 0 && int(n) < len(words) {
		return words[n]
	}
	return "unknown-" + strconv.Itoa(int(n))
}

// bits returns the numbers of the bits set in mask, each as a T.
func bits[T ~int32](mask uint32) []T {
	var set []T
	for n := range T(32) {
		if mask>>n&1 == 1 {
			set = append(set, n)
		}
	}
	return set
}
