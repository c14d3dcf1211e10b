package doctor

import (
	"slices"
	"strings"
)

const clockSource = "sys/devices/system/clocksource/clocksource0/"

// checkClockSource looks at what the kernel counts time by.
func checkClockSource(v *Visit) []Finding {
	const subject = "clock source"
	current, ok := v.line(clockSource + "current_clocksource")
	if !ok {
		return []Finding{{
			subject, Note, "the kernel does not say which clock source it uses",
			"a slow one makes every reading of the clock late", "nothing, unless clock readings look coarse",
		}}
	}
	available, _ := v.line(clockSource + "available_clocksource")
	hasTSC := slices.Contains(strings.Fields(available), "tsc")
	switch current {
	case "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "timebase", "tod", "stp":
		return []Finding{{Subject: subject, State: OK, What: current + ", read without a system call"}}
	case "jiffies", "refined-jiffies":
		return []Finding{{
			subject, Problem, current + ": the clock moves only with the timer interrupt",
			"every stamp is rounded to 1 to 10 ms, and no offset or round trip below that means anything",
			"find out why no better one came up: `sudo dmesg | grep -i clocksource`",
		}}
	case "hpet", "acpi_pm", "xen":
		return []Finding{slowSource(subject, current, hasTSC)}
	}
	return []Finding{{
		subject, Note, current + ", of which this program knows nothing",
		"whether reading it is cheap and steady is not told", "see the precision in the header of `tickmark probe clock`",
	}}
}

func slowSource(subject, current string, hasTSC bool) Finding {
	f := Finding{
		subject, Warning, current + ", which is slow to read: a system call and a device, every time",
		"stamps taken by a program come later and scatter more, and a fast probe spends its time reading the clock",
		"the kernel found the TSC of this machine unfit; see why: `sudo dmesg | grep -i tsc`",
	}
	if hasTSC {
		f.Do = "tsc is available: `echo tsc | sudo tee /" + clockSource + "current_clocksource`, unless `sudo dmesg | grep -i tsc` says it is unstable"
	}
	return f
}
