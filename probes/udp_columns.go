package probes

import (
	"strconv"

	"github.com/tickmark/tickmark/datasets"
)

// udpColumns are the columns of its own that a row of the udp probe has. Stamps are in
// nanoseconds since 1970 by each side's own wall clock, of whom the header says; their
// differences are no latencies. T3, when the answer left, is t2 + server_queued_ns +
// server_ns.
func udpColumns() []string {
	return []string{"t1", "t2", "t4", "server_ns", "server_queued_ns", "why"}
}

func udpCells(dst []byte, a *attempt) []byte {
	dst = append(appendStamp(dst, a.t1), '\t')
	dst = append(appendStamp(dst, a.t2), '\t')
	dst = append(appendStamp(dst, a.t4), '\t')
	dst = append(appendKnown(dst, a.server), '\t')
	dst = append(appendKnown(dst, a.queued), '\t')
	return append(dst, whyNot(a)...)
}

// whyNot says why an answer is not believed, or "-".
func whyNot(a *attempt) string {
	switch {
	case a.outcome != datasets.Invalid:
		return "-"
	case a.stepped:
		return "the wall clock stepped while it was in flight"
	}
	return "another session or size, or our own packet"
}

// appendStamp writes a time since 1970, or - for one that is not known.
func appendStamp(dst []byte, nanos int64) []byte {
	if nanos == 0 {
		return append(dst, '-')
	}
	return strconv.AppendInt(dst, nanos, 10)
}
