package probes

import (
	"strconv"

	"github.com/tickmark/tickmark/datasets"
)

// twoWayColumns are the columns of its own that a row of the stamp probe has. Stamps are
// in nanoseconds since 1970 by each side's own wall clock, and timescale: one of PTP may
// count TAI. server_ns is t3 − t2, server_ttl with which TTL our packet came there, and
// server_seq the number of what it sent.
func twoWayColumns() []string {
	return []string{"t1", "t2", "t3", "t4", "server_ns", "server_ttl", "server_seq", "why"}
}

func twoWayCells(dst []byte, a *attempt) []byte {
	var t3 int64
	if a.t2 != 0 && a.server >= 0 {
		t3 = a.t2 + int64(a.server)
	}
	for _, at := range [...]int64{a.t1, a.t2, t3, a.t4} {
		dst = append(appendStamp(dst, at), '\t')
	}
	dst = append(appendKnown(dst, a.server), '\t')
	ttl, number := "-", "-"
	if own := int64(a.queued) - 1; own >= 0 {
		number = strconv.FormatInt(own>>8, 10)
		if own&0xff > 0 {
			ttl = strconv.FormatInt(own&0xff, 10)
		}
	}
	dst = append(append(dst, ttl...), '\t')
	dst = append(append(dst, number...), '\t')
	if a.outcome == datasets.Invalid && !a.stepped {
		return append(dst, "it is not what was sent: another SSID or time, or longer"...)
	}
	return append(dst, whyNot(a)...)
}
