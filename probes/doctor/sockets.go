package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// wantedBuffer is the receive buffer that probes ask for, in bytes (probes/stamp).
const wantedBuffer = 4 << 20

// checkSockets looks at what the kernel grants to sockets.
func checkSockets(v *Visit) []Finding {
	return append(v.bufferFindings(), v.pingFindings()...)
}

func (v *Visit) bufferFindings() []Finding {
	const subject = "socket buffers"
	most, ok := v.number("proc/sys/net/core/rmem_max")
	switch {
	case !ok:
		return nil
	case most >= wantedBuffer || v.may(netAdmin()):
		return []Finding{{Subject: subject, State: OK, What: "as large as probes ask for (4 MiB)"}}
	}
	return []Finding{{
		subject, Note, fmt.Sprintf("the receive buffer of a socket is at most %d KiB, probes ask for %d", most>>10, wantedBuffer>>10),
		"at high rates, answers that come while a probe is paused are dropped by its own host; the probe counts them, but they are gone",
		fmt.Sprintf("`sudo sysctl -w net.core.rmem_max=%d`", wantedBuffer),
	}}
}

// pingFindings looks at whether this user may send ICMP echoes without raw sockets
// (icmp(7): ping_group_range, a range of group ids; "1 0" is nobody).
func (v *Visit) pingFindings() []Finding {
	const subject = "ping"
	text, ok := v.line("proc/sys/net/ipv4/ping_group_range")
	if !ok {
		return nil
	}
	if v.may(rawPackets()) || v.inRange(text) {
		return []Finding{{Subject: subject, State: OK, What: "this user may send ICMP echoes"}}
	}
	return []Finding{{
		subject, Note, "this user may not send ICMP echoes (ping_group_range is " + strings.Join(strings.Fields(text), " ") + ")",
		"a round trip without the peer's program in it cannot be measured",
		"`sudo sysctl -w net.ipv4.ping_group_range='0 2147483647'`",
	}}
}

func (v *Visit) inRange(text string) bool {
	words := strings.Fields(text)
	if len(words) != 2 {
		return false
	}
	low, err := strconv.ParseInt(words[0], 10, 64)
	high, err2 := strconv.ParseInt(words[1], 10, 64)
	if err != nil || err2 != nil {
		return false
	}
	gids, _ := v.status("Gid") // real, effective, saved, file system
	more, _ := v.status("Groups")
	for word := range strings.FieldsSeq(gids + " " + more) {
		if gid, err := strconv.ParseInt(word, 10, 64); err == nil && gid >= low && gid <= high {
			return true
		}
	}
	return false
}
