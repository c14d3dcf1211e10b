package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const ptpClass = "sys/class/ptp/"

// checkPHCs looks at the clocks of network hardware, who uses them, and whether they
// can be read.
func checkPHCs(v *Visit) []Finding {
	clocks := v.glob(ptpClass + "ptp[0-9]*")
	if len(clocks) == 0 {
		return []Finding{v.noPHC()}
	}
	var findings []Finding
	for _, path := range clocks {
		findings = append(findings, v.phc(base(path)))
	}
	return findings
}

func (v *Visit) noPHC() Finding {
	f := Finding{
		"hardware clocks", Note, "this host has none (no /dev/ptpN)",
		"`tickmark probe phc` has nothing to read here, and PTP stamps come from the kernel",
		"nothing for NTP and timeouts",
	}
	switch vm := v.virtualMachine(); {
	case strings.Contains(vm, "KVM"):
		f.Do = "the clock of a KVM host can be read as one, if its kernel module is there: `sudo modprobe ptp_kvm`"
	case strings.Contains(vm, "Amazon"):
		f.Do = "newer instance types have one in their network driver: see phc_enable in the manual of ena"
	}
	return f
}

func (v *Visit) phc(name string) Finding {
	device := "/dev/" + name
	f := Finding{Subject: "phc " + name, State: OK, What: device}
	if kind, ok := v.line(ptpClass + name + "/clock_name"); ok {
		f.What += " (" + kind + ")"
	}
	var ifaces []string
	for _, path := range v.glob(ptpClass + name + "/device/net/*") {
		ifaces = append(ifaces, base(path))
	}
	if ifaces != nil {
		f.What += " of " + list(ifaces)
	}
	used := "nobody holds it open"
	if users := v.holders(device); users != nil {
		used = "in use by " + list(users)
	} else if v.unread[openFiles] > 0 {
		used = "who uses it is not told"
	}
	f.What += ": " + used
	v.access(name, &f)
	return f
}

// access makes a warning of a clock that cannot be opened. Opening one for reading
// changes nothing.
func (v *Visit) access(name string, f *Finding) {
	file, err := v.FS.Open("dev/" + name)
	if err == nil {
		file.Close()
		return
	}
	f.State = Warning
	f.Why = "`tickmark probe phc` cannot read it, and hardware stamps cannot be told in this host's time"
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.What += "; this user may not open it"
		f.Do = fmt.Sprintf("let a group read it: `sudo groupadd -f clock`, `sudo usermod -aG clock $USER`, "+
			"`echo 'SUBSYSTEM==\"ptp\", GROUP=\"clock\", MODE=\"0640\"' | sudo tee /etc/udev/rules.d/60-ptp.rules`, `sudo udevadm trigger /dev/%s`, then log in anew", name)
	case errors.Is(err, fs.ErrNotExist):
		f.What += "; its device file is missing here"
		f.Do = fmt.Sprintf("in a container, pass it in: `--device /dev/%s`", name)
	default:
		f.What += "; it cannot be opened: " + err.Error()
		f.Do = "see whether its driver still works: `sudo dmesg | grep -i ptp`"
	}
}
