package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/probes/cgroup"
)

const cpus = "sys/devices/system/cpu/"

// checkGovernor looks at who decides how fast the processors run.
func checkGovernor(v *Visit) []Finding {
	const subject = "cpu speed"
	governors := v.each(cpus + "cpu[0-9]*/cpufreq/scaling_governor")
	switch {
	case governors == nil && v.virtualMachine() != "":
		return []Finding{{Subject: subject, State: OK, What: "not decided here but by the hypervisor's host"}}
	case governors == nil:
		return []Finding{{Subject: subject, State: OK, What: "fixed, or decided by the firmware"}}
	case len(governors) == 1 && governors[0] == "performance":
		return []Finding{{Subject: subject, State: OK, What: "governor performance"}}
	}
	return []Finding{{
		subject, Note, "governor " + list(governors) + ": processors slow down when idle",
		"the same work takes longer after a quiet spell: sparse probes see longer round trips than a busy service would",
		"while measuring, `sudo cpupower frequency-set -g performance`",
	}}
}

// noticeable is the wake-up time from which a sleep state is told of: half of what a
// kernel-stamped exchange scatters by.
const noticeable = 10 * time.Microsecond

// checkSleepStates looks at how deep the processors sleep when idle.
func checkSleepStates(v *Visit) []Finding {
	const subject = "cpu sleep"
	deepest, name := time.Duration(-1), ""
	for _, state := range v.glob(cpus + "cpu0/cpuidle/state[0-9]*") {
		if off, _ := v.number(state + "/disable"); off != 0 {
			continue
		}
		latency, ok := v.number(state + "/latency")
		if d := cgroup.Micros(latency); ok && d > deepest {
			deepest = d
			if name, _ = v.line(state + "/name"); name == "" {
				name = base(state)
			}
		}
	}
	switch {
	case deepest < 0:
		return []Finding{{Subject: subject, State: OK, What: "no sleep states are managed here"}}
	case deepest < noticeable:
		return []Finding{{Subject: subject, State: OK, What: fmt.Sprintf("light: %s at most, which takes %s to leave", name, seconds(deepest))}}
	}
	f := Finding{
		subject, Note, fmt.Sprintf("idle processors sleep as deep as %s, which takes up to %s to leave", name, seconds(deepest)),
		"that much is added to a packet that arrives at a sleeping processor, before even the kernel can stamp it",
		fmt.Sprintf("while measuring, `sudo cpupower idle-set -D %d`; for good, the kernel option processor.max_cstate=1", noticeable/time.Microsecond),
	}
	if driver, _ := v.line(cpus + "cpuidle/current_driver"); driver == "intel_idle" {
		f.Do = strings.Replace(f.Do, "the kernel option", "the kernel options intel_idle.max_cstate=1 and", 1)
	}
	return []Finding{f}
}

// checkCPUs looks at what a probe shares a processor with.
func checkCPUs(v *Visit) []Finding {
	const subject = "cpus"
	online, ok := v.line(cpus + "online")
	if !ok || online == "" {
		return nil
	}
	if online == "0" {
		return []Finding{{
			subject, Note, "there is only one",
			"a probe and whatever else runs take turns: its stamps, and answers of a server on this host, wait for each other",
			"measure with nothing else running, or believe kernel stamps only",
		}}
	}
	what := "online " + online
	if smt, ok := v.line(cpus + "smt/active"); ok && smt == "1" {
		what += ", two or more to a core (SMT): a busy sibling slows a probe down"
	}
	if isolated, _ := v.line(cpus + "isolated"); isolated != "" {
		what += fmt.Sprintf("; %s isolated: a probe gets one to itself with `taskset -c %s`", isolated, firstOf(isolated))
	}
	if quiet, _ := v.line(cpus + "nohz_full"); quiet != "" && quiet != "(null)" {
		what += "; " + quiet + " without timer ticks"
	}
	return []Finding{{Subject: subject, State: OK, What: what}}
}

// firstOf returns the first CPU of a list such as 2-3,8.
func firstOf(cpus string) string {
	if i := strings.IndexFunc(cpus, func(r rune) bool { return !slices.Contains([]rune("0123456789"), r) }); i > 0 {
		return cpus[:i]
	}
	return cpus
}
