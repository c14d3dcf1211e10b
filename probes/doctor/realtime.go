package doctor

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// checkRealTime looks at whether a probe can be kept from waiting for a processor.
func checkRealTime(v *Visit) []Finding {
	const subject = "real-time"
	const why = "under load a probe wakes late, and the wait counts as round trip for stamps of the program (not of the kernel)"
	runtime, ok := v.number("proc/sys/kernel/sched_rt_runtime_us")
	period, hasPeriod := v.number("proc/sys/kernel/sched_rt_period_us")
	switch {
	case ok && runtime == 0:
		return []Finding{{subject, Note, "real-time scheduling is switched off (sched_rt_runtime_us is 0)", why, "`sudo sysctl -w kernel.sched_rt_runtime_us=950000`"}}
	case v.groupWithoutRealTime():
		return []Finding{{
			subject, Note, "the control group of this process has no real-time budget (cpu.rt_runtime_us is 0)", why,
			"start probes from a group that has one, or leave it so: kernel stamps do not need it",
		}}
	case !v.may(capability{bit: 23}) && v.realTimeLimit() == 0:
		return []Finding{{
			subject, Note, "this user may not use real-time scheduling (the limit rtprio is 0)", why,
			"`sudo chrt -f 20 tickmark probe …` where it matters, or a line `USER - rtprio 20` in /etc/security/limits.conf",
		}}
	}
	what := "allowed, `chrt -f 20 tickmark probe …` uses it"
	if ok && hasPeriod && runtime > 0 && runtime < period {
		stopped, of := time.Duration(period-runtime)*time.Microsecond, time.Duration(period)*time.Microsecond
		what += fmt.Sprintf("; a program that never sleeps is stopped for %s of every %s", seconds(stopped), seconds(of))
	}
	return []Finding{{Subject: subject, State: OK, What: what}}
}

// realTimeLimit returns the soft limit of the real-time priority: /proc/self/limits,
// "Max realtime priority  SOFT  HARD".
func (v *Visit) realTimeLimit() int {
	text, _ := v.text("proc/self/limits")
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "Max realtime priority"); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				n, err := strconv.Atoi(words[0])
				if err != nil { // "unlimited"
					return 99
				}
				return n
			}
		}
	}
	return 0
}

// groupWithoutRealTime reports whether a cgroup of version 1 keeps its processes from
// real-time scheduling, as a new one does where the kernel has RT_GROUP_SCHED.
func (v *Visit) groupWithoutRealTime() bool { return v.groups().WithoutRealTime(v.cpuGroups()) }
