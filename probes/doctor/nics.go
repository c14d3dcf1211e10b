package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/probes/nic"
)

const netClass = "sys/class/net/"

// stamper is an interface and what it can stamp.
type stamper struct {
	iface    string
	physical bool
	able     nic.Abilities
}

// checkNICs looks at each interface that leads out of this host: the physical ones,
// or in a guest without any, those that are up.
func checkNICs(v *Visit) []Finding {
	var findings []Finding
	ifaces, physical := v.outward()
	virtual := map[string][]string{} // by what is to be said of them
	for _, iface := range ifaces {
		able, err := v.Inspect(iface)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			v.untold = true
			findings = append(findings, Finding{
				"nic " + iface, Note, "its driver does not say what it can stamp",
				"the kernel still stamps what arrives", "nothing for NTP; PTP in hardware needs another NIC",
			})
			continue
		case err != nil:
			continue // it has gone meanwhile
		}
		v.stamps = append(v.stamps, stamper{iface, physical, able})
		if !physical {
			virtual[able.Sentence()] = append(virtual[able.Sentence()], iface)
			continue
		}
		findings = append(findings, v.nicFinding(iface, &able))
		if v.exists(netClass + iface + "/phy80211") {
			findings = append(findings, Finding{
				"nic " + iface, Note, "is wireless", "it sends when the air is free: delays vary by milliseconds and differ by direction",
				"measure over a cable",
			})
		}
	}
	return append(findings, virtualNICs(virtual)...)
}

// outward returns the interfaces to look at, and whether they are physical.
func (v *Visit) outward() (ifaces []string, physical bool) {
	var devices, up []string
	for _, path := range v.glob(netClass + "*") {
		kind, _ := v.line(path + "/type")
		state, _ := v.line(path + "/operstate")
		switch {
		case kind == "772": // ARPHRD_LOOPBACK
		case v.exists(path + "/device"):
			devices = append(devices, base(path))
		case state != "down":
			up = append(up, base(path))
		}
	}
	if devices != nil {
		return devices, true
	}
	return up, false
}

func (v *Visit) nicFinding(iface string, a *nic.Abilities) Finding {
	f := Finding{Subject: "nic " + iface, State: Note, What: a.Sentence()}
	if a.Driver != "" {
		f.What = "driver " + a.Driver + ", " + f.What
	}
	if state, ok := v.line(netClass + iface + "/operstate"); ok && state == "down" {
		f.What += "; the link is down"
	}
	switch a.Hardware() {
	case nic.Nothing:
		f.Why = "kernel stamps are good to about 1 µs, hardware stamps to some ns"
		f.Do = "nothing for NTP and timeouts; PTP below 1 µs needs a NIC for which `ethtool -T` shows hardware-transmit"
		if v.virtualMachine() != "" {
			f.Do = "nothing: in a virtual machine only a passed-through NIC has hardware stamps"
		}
	case nic.PTPOnly:
		f.Why = "PTP can be measured to some ns here, NTP to about 1 µs: its packets pass the filter of the hardware unstamped"
		f.Do = "NTP in hardware needs a NIC for which `ethtool -T` shows the receive filter all or ntp-all"
	case nic.NTPOnly:
		f.Why = "NTP can be measured to some ns here, PTP to about 1 µs"
		f.Do = "PTP in hardware needs a NIC for which `ethtool -T` shows a ptpv2 receive filter"
	case nic.All, nic.NTPAndPTP:
		f.State = OK
	}
	if a.Hardware() != nic.Nothing {
		f.What += v.switchedOn(iface, &f)
	}
	return f
}

// switchedOn says how the hardware stamps of an interface stand, and makes a note of
// those that are off.
func (v *Visit) switchedOn(iface string, f *Finding) string {
	config, err := v.NICConfig(iface)
	switch {
	case err != nil:
		return "; whether they are switched on is not told"
	case config.TX != nic.TXOff && config.RX != nic.RXNone:
		return fmt.Sprintf("; switched on (%s)", config)
	}
	f.State = Note
	if f.Why == "" {
		f.Why = "until somebody switches them on, every stamp is the kernel's"
	}
	off := "probes switch them on for as long as they run with --allow-nic-config, as root or with cap_net_admin"
	if f.Do == "" {
		f.Do = off
	} else {
		f.Do = off + "; " + f.Do
	}
	return "; switched off"
}

// virtualNICs has one finding for all interfaces of which the same is to be said.
func virtualNICs(by map[string][]string) []Finding {
	var findings []Finding
	for sentence, ifaces := range by {
		subject, named := "nic "+ifaces[0], ""
		if n := len(ifaces); n > 1 {
			shown := ifaces[:min(n, 4)]
			named = fmt.Sprintf("%s virtual interfaces (%s): ", unit.Count(int64(n)), strings.Join(shown, ", "))
			if len(shown) < n {
				named = strings.TrimSuffix(named, "): ") + ", …): "
			}
			subject = "nics"
		}
		findings = append(findings, Finding{
			subject, Note, named + sentence,
			"the stamp of a virtual interface is taken before the packet reaches the real one: what lies between counts as network",
			"nothing for timeouts; measure clocks on the host itself",
		})
	}
	slices.SortFunc(findings, func(a, b Finding) int { return strings.Compare(a.Subject+a.What, b.Subject+b.What) })
	return findings
}

// stampSentence says what packets can be stamped by on this host.
func (v *Visit) stampSentence() string {
	var scopes []nic.Scope
	hardware := map[nic.Scope][]string{}
	var kernel, none []string
	for _, s := range v.stamps {
		switch scope := s.able.Hardware(); {
		case scope != nic.Nothing:
			if hardware[scope] == nil {
				scopes = append(scopes, scope)
			}
			hardware[scope] = append(hardware[scope], s.iface)
		case s.able.SoftwareRX:
			kernel = append(kernel, s.iface)
		default:
			none = append(none, s.iface)
		}
	}
	switch {
	case scopes != nil:
		var words []string
		for _, scope := range scopes {
			words = append(words, string(scope)+" on "+list(hardware[scope]))
		}
		return "This host can stamp in hardware (" + strings.Join(words, "; ") + ") and in the kernel."
	case kernel != nil:
		return "This host can stamp packets in the kernel, to about 1 µs; none of its interfaces stamps in hardware."
	case none != nil:
		return "This host can stamp packets only in the program, some tens of µs late."
	case v.untold || !v.exists(strings.TrimSuffix(netClass, "/")):
		return "What this host can stamp is not known."
	}
	return "This host has no interface that leads out of it: only loopback can be measured."
}
