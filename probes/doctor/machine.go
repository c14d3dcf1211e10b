package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// virtualMachine returns the kind of hypervisor this runs on, or "" if there is no
// sign of one.
func (v *Visit) virtualMachine() string {
	vendor, _ := v.line("sys/class/dmi/id/sys_vendor")
	product, _ := v.line("sys/class/dmi/id/product_name")
	cpu, _ := v.text("proc/cpuinfo")
	sources, _ := v.line(clockSource + "available_clocksource")
	kind, _ := v.line("sys/hypervisor/type")
	tree, _ := v.text("sys/firmware/devicetree/base/hypervisor/compatible")
	guest := slices.Contains(flags(cpu), "hypervisor")
	for _, sign := range []struct {
		seen bool
		name string
	}{
		{strings.Contains(vendor, "Amazon") && !strings.Contains(product, "metal"), "Amazon EC2"},
		{strings.Contains(vendor, "Google"), "Google Compute Engine"},
		{strings.HasPrefix(vendor, "VMware"), "VMware"},
		{strings.Contains(vendor, "innotek") || product == "VirtualBox", "VirtualBox"},
		{strings.Contains(vendor, "Microsoft") && (guest || product == "Virtual Machine"), "Hyper-V"},
		{kind == "xen", "Xen"},
		{vendor == "QEMU" || product == "KVM" || strings.Contains(tree, "linux,kvm"), "QEMU or KVM"},
		{guest && slices.Contains(strings.Fields(sources), "kvm-clock"), "KVM"},
		{guest, "a hypervisor of unknown kind"},
	} {
		if sign.seen {
			return sign.name
		}
	}
	return ""
}

// flags returns the flags of the first processor in /proc/cpuinfo.
func flags(cpuinfo string) []string {
	for line := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "flags" {
			return strings.Fields(value)
		}
	}
	return nil
}

// much is the share of time given to other guests from which pauses are expected.
const much = .01

// checkMachine looks for a hypervisor and what it took.
func checkMachine(v *Visit) []Finding {
	const subject = "machine"
	vm := v.virtualMachine()
	if vm == "" {
		return []Finding{{Subject: subject, State: OK, What: "no sign of a hypervisor"}}
	}
	f := Finding{
		subject, Note, "a virtual machine on " + vm,
		"its host may stop it at any moment and move it: pauses come from outside, and after a migration the clock can jump while its daemon still claims a small error",
		"compare with an independent source while it matters: `tickmark probe ntp`, and `tickmark probe pause` for the stops",
	}
	share, ok := v.stolen()
	if !ok {
		return []Finding{f}
	}
	f.What += fmt.Sprintf("; %.2g %% of its processor time since it booted went to others (steal)", 100*share)
	if share >= much {
		f.State = Warning
		f.Do = "move it to a host that is less crowded, or give it processors of its own; " + f.Do
	}
	return []Finding{f}
}

// stolen returns the share of processor time that was wanted here and given to others
// (proc(5): /proc/stat, the eighth number of the first line, in the sum of the first
// eight).
func (v *Visit) stolen() (float64, bool) {
	line, ok := v.line("proc/stat")
	words := strings.Fields(line)
	if !ok || len(words) < 9 || words[0] != "cpu" {
		return 0, false
	}
	var sum, steal float64
	for i, word := range words[1:9] {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return 0, false
		}
		if sum += float64(n); i == 7 {
			steal = float64(n)
		}
	}
	return steal / sum, sum > 0
}
