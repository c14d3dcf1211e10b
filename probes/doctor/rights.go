package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// capability is a right of a process (capabilities(7)): its number and what cannot be
// measured without it.
type capability struct {
	bit  int
	name string
	lost string
}

// The rights that probes make use of. CAP_SYS_TIME is not among them: tickmark never
// adjusts a clock.
func bindPorts() capability {
	return capability{10, "cap_net_bind_service", "PTP servers that answer to ports 319 and 320 only, as ptp4l does, cannot be asked"}
}

func rawPackets() capability {
	return capability{13, "cap_net_raw", "PTP between other hosts cannot be watched"}
}

func netAdmin() capability {
	return capability{12, "cap_net_admin", "hardware stamps that are switched off stay off"}
}

// privileges returns the effective capabilities of this process as a mask.
func (v *Visit) privileges() (uint64, bool) {
	hex, ok := v.status("CapEff")
	if !ok {
		return 0, false
	}
	mask, err := strconv.ParseUint(hex, 16, 64)
	return mask, err == nil
}

// may reports whether this process has a capability.
func (v *Visit) may(c capability) bool {
	mask, ok := v.privileges()
	return ok && mask>>c.bit&1 == 1
}

// status returns a line of /proc/self/status.
func (v *Visit) status(key string) (string, bool) {
	text, _ := v.text("proc/self/status")
	for line := range strings.Lines(text) {
		if k, value, ok := strings.Cut(line, ":"); ok && k == key {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// checkRights says what this user cannot measure, and the line that changes it
// without making the program root.
func checkRights(v *Visit) []Finding {
	const subject = "rights"
	if _, ok := v.privileges(); !ok {
		return []Finding{{
			subject, Note, "what this process may do is not told (no /proc/self/status)",
			"a probe that needs a right says so when it is refused", "run the probe and see",
		}}
	}
	var names, lost []string
	needed := []capability{bindPorts(), rawPackets()}
	if first, ok := v.number("proc/sys/net/ipv4/ip_unprivileged_port_start"); ok && first <= 319 {
		needed = needed[1:]
	}
	for _, c := range needed {
		if !v.may(c) {
			names, lost = append(names, c.name), append(lost, c.lost)
		}
	}
	admin := v.may(netAdmin())
	if names == nil && admin {
		return []Finding{{Subject: subject, State: OK, What: "this user may do all that probes ask for"}}
	}
	f := Finding{
		subject, Note, "this user lacks " + list(append(names, missingAdmin(admin)...)) + "; NTP, UDP and kernel stamps work without",
		strings.Join(append(lost, lostAdmin(admin)...), "; "),
		"",
	}
	if names != nil {
		f.Do = "give the program these rights instead of running it as root: `sudo setcap " + strings.Join(names, ",") + "=ep " + v.program() + "`"
	}
	if !admin {
		f.Do = strings.TrimPrefix(f.Do+"; run it as root only for --allow-nic-config", "; ")
	}
	return []Finding{f}
}

// checkDaemonSockets says which daemons answer in full to root only: they tell friend
// from stranger by who may write to their sockets (chronyc(1), pmc(8)).
func checkDaemonSockets(v *Visit) []Finding {
	const subject = "daemon sockets"
	overrides := capability{bit: 1} // CAP_DAC_OVERRIDE
	var running []string
	for _, name := range []string{"chronyd", "ptp4l"} {
		if slices.ContainsFunc(v.running(), func(p process) bool { return p.name == name }) {
			running = append(running, name)
		}
	}
	switch {
	case running == nil:
		return nil
	case v.may(overrides):
		return []Finding{{Subject: subject, State: OK, What: "this user may ask " + list(running)}}
	}
	return []Finding{{
		subject, Note, list(running) + " may answer in full to root only",
		"`tickmark probe daemon` then gets from chronyd what it tells anybody (its claim and its sources, not its measurements), and from ptp4l nothing unless it has a read-only socket (/run/ptp4lro)",
		"`sudo tickmark probe daemon`; chronyd tells more to all from 4.7 on with the line opencommands in its configuration",
	}}
}

func missingAdmin(admin bool) []string {
	if admin {
		return nil
	}
	return []string{netAdmin().name}
}

func lostAdmin(admin bool) []string {
	if admin {
		return nil
	}
	return []string{netAdmin().lost}
}

// program returns the path of this program as a shell takes it.
func (v *Visit) program() string {
	if v.Executable == "" {
		return "$(command -v tickmark)"
	}
	if strings.ContainsAny(v.Executable, " \t'\"\\$`&;()<>|*?[]#~") {
		return "'" + strings.ReplaceAll(v.Executable, "'", `'\''`) + "'"
	}
	return v.Executable
}
