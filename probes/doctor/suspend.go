package doctor

import "time"

// shortest is what counts as sleep: the two clocks are not read at one instant.
const shortest = 10 * time.Millisecond

// checkSuspend looks at whether this host has slept: CLOCK_MONOTONIC, by which
// intervals are measured, stood still meanwhile.
func checkSuspend(v *Visit) []Finding {
	const subject = "suspend"
	slept, err := v.Suspended()
	switch {
	case err != nil:
		return nil
	case slept < shortest:
		return []Finding{{Subject: subject, State: OK, What: "not since it booted"}}
	}
	return []Finding{{
		subject, Note, "this host has slept for " + slept.Round(time.Second/10).String() + " since it booted",
		"intervals leave out the time asleep, and wall time jumps over it: a measurement across it shows a step",
		"keep it awake while measuring: `systemd-inhibit --what=sleep tickmark probe …`",
	}}
}
