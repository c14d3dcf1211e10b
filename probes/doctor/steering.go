package doctor

import (
	"slices"
	"strings"
)

// realtime is the clock that programs call the time.
const realtime = "CLOCK_REALTIME"

// steering is a process that adjusts a clock, as far as its arguments and its
// configuration tell.
type steering struct {
	process process
	clock   string // CLOCK_REALTIME, /dev/ptpN or an interface's name; "" is not known which
	sure    bool   // it does if it works at all; otherwise it may
	rarely  bool   // only after the machine stood still, as guest agents do
}

// steers tells of each kind of daemon what it steers. Names are cut at 15 characters,
// as the kernel cuts them.
func steers() map[string]func(*Visit, process) []steering {
	agent := func(_ *Visit, p process) []steering {
		return []steering{{process: p, clock: realtime, rarely: true}}
	}
	system := func(_ *Visit, p process) []steering {
		return []steering{{process: p, clock: realtime, sure: true}}
	}
	return map[string]func(*Visit, process) []steering{
		"chronyd":         steeredByChronyd,
		"ntpd":            steeredByNtpd,
		"openntpd":        system,
		"ntp-daemon":      system, // ntpd-rs
		"systemd-timesyn": system, // systemd-timesyncd
		"ptpd":            steeredByPtpd,
		"ptpd2":           steeredByPtpd,
		"ptp4l":           steeredByPtp4l,
		"phc2sys":         steeredByPhc2sys,
		"sptp":            steeredBySptp,
		"vmtoolsd":        agent,
		"VBoxService":     agent,
		"qemu-ga":         agent,
		"prltoolsd":       agent,
		"google_guest_ag": agent, // google_guest_agent
	}
}

// steerings returns who adjusts a clock of this host.
func (v *Visit) steerings() []steering {
	by := steers()
	named := map[int]string{}
	for _, p := range v.running() {
		named[p.pid] = p.name
	}
	var all []steering
	for _, p := range v.running() {
		// A daemon's helper, of the same name, is no second one.
		if steered, ok := by[p.name]; ok && named[p.parent] != p.name {
			all = append(all, steered(v, p)...)
		}
	}
	return all
}

// steeredByChronyd: -x and -Q measure only (chronyd(8)).
func steeredByChronyd(_ *Visit, p process) []steering {
	o := options(p.args, "fuFPlLt")
	if has(o, "x", "Q", "p") {
		return nil
	}
	return []steering{{process: p, clock: realtime, sure: true}}
}

// steeredByNtpd: "disable ntp" in its configuration leaves the clock alone (ntp.conf(5)).
func steeredByNtpd(v *Visit, p process) []steering {
	for line := range lines(v.configOf(p, "fcipsuklUN", []string{"c", "configfile"}, "etc/ntpsec/ntp.conf", "etc/ntp.conf")) {
		if len(line) > 1 && line[0] == "disable" && slices.Contains(line[1:], "ntp") {
			return nil
		}
	}
	return []steering{{process: p, clock: realtime, sure: true}}
}

// steeredByPtpd: -n and --clock:no_adjust leave the clock alone.
func steeredByPtpd(_ *Visit, p process) []steering {
	o := options(p.args, "ciudEfSlr")
	if has(o, "n", "noadjust", "clock:no_adjust") {
		return nil
	}
	return []steering{{process: p, clock: realtime}}
}

// steeredByPtp4l: it steers the PHC of its interfaces, or with software stamps the
// system clock, as long as it is not the master (ptp4l(8)).
func steeredByPtp4l(v *Visit, p process) []steering {
	set, ifaces := v.ptp4lSettings(p)
	yes := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return set[n] == "1" })
	}
	if yes("free_running", "serverOnly", "masterOnly") {
		return nil
	}
	_, asked := set["s"]
	sure := asked || yes("clientOnly", "slaveOnly")
	if _, soft := set["S"]; soft || set["time_stamping"] == "software" {
		return []steering{{process: p, clock: realtime, sure: sure}}
	}
	var all []steering
	for _, iface := range distinct(ifaces) {
		all = append(all, steering{process: p, clock: v.clockOf(iface), sure: sure})
	}
	return dedup(all)
}

// ptp4lSettings returns what ptp4l was told, by its arguments or else its file, and
// its interfaces: -i and each section that is no table.
func (v *Visit) ptp4lSettings(p process) (set map[string]string, ifaces []string) {
	const takeValue = "fipl"
	set = map[string]string{}
	for line := range lines(v.configOf(p, takeValue, []string{"f"})) {
		section, isSection := strings.CutPrefix(line[0], "[")
		switch {
		case isSection && len(line) == 1:
			if section = strings.TrimSuffix(section, "]"); section != "global" && !strings.HasSuffix(section, "_table") {
				ifaces = append(ifaces, section)
			}
		case len(line) > 1:
			set[line[0]] = line[1]
		}
	}
	o := options(p.args, takeValue)
	for name, values := range o {
		set[name] = values[len(values)-1]
	}
	return set, append(ifaces, o["i"]...)
}

// steeredByPhc2sys: -c names what it steers, by default the system clock; with -a it
// follows ptp4l, and the system clock only with -r (phc2sys(8)).
func steeredByPhc2sys(v *Visit, p process) []steering {
	o := options(p.args, "cdsEPISFRNOLMnfuztl")
	switch {
	case has(o, "free_running"):
		return nil
	case has(o, "a") && has(o, "r"):
		return []steering{{process: p, clock: realtime}}
	case has(o, "a"):
		return []steering{{process: p}}
	case !has(o, "c"):
		return []steering{{process: p, clock: realtime, sure: true}}
	}
	var all []steering
	for _, clock := range o["c"] {
		all = append(all, steering{process: p, clock: v.clockOf(clock), sure: true})
	}
	return all
}

// steeredBySptp: "freerunning: true" in its configuration leaves the clocks alone.
func steeredBySptp(v *Visit, p process) []steering {
	clock, iface := "", ""
	for line := range lines(v.configOf(p, "", []string{"config"})) {
		if len(line) < 2 {
			continue
		}
		value := strings.Trim(line[1], `"'`)
		switch line[0] {
		case "freerunning:":
			if value == "true" {
				return nil
			}
		case "timestamping:":
			if value == "software" {
				clock = realtime
			}
		case "iface:":
			iface = value
		}
	}
	if clock == "" && iface != "" {
		clock = v.clockOf(iface)
	}
	return []steering{{process: p, clock: clock}}
}

// clockOf returns the hardware clock of an interface, or the name as it is.
func (v *Visit) clockOf(name string) string {
	if name == realtime || strings.HasPrefix(name, "/") {
		return name
	}
	if able, err := v.Inspect(name); err == nil {
		if device, ok := able.Device(); ok {
			return device
		}
	}
	return name
}

func has(o map[string][]string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { _, ok := o[n]; return ok })
}

func distinct(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// dedup drops what names the same clock again: the ports of one device.
func dedup(all []steering) []steering {
	return slices.CompactFunc(all, func(a, b steering) bool { return a.clock == b.clock && a.process.pid == b.process.pid })
}
