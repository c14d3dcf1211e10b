package nic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/datasets"
)

// Abilities is what an interface can stamp.
type Abilities struct {
	Interface string
	Driver    string // "" if it has none, as loopback
	Bus       string // where the device sits, as 0000:03:00.0; "" for a virtual one

	SoftwareTX, SoftwareRX bool                   // by the kernel, as a packet passes the driver
	HardwareTX, HardwareRX bool                   // by the device
	RawHardware            bool                   // the device's stamps can be had as its clock showed them
	PHC                    datasets.Optional[int] // N of /dev/ptpN, the clock of hardware stamps
	TX                     []TXType               // what can be asked of Configure
	RX                     []Filter
}

// Scope is which packets the hardware can stamp, both when they leave and arrive.
type Scope string

// The scopes.
const (
	Nothing   Scope = "nothing"
	PTPOnly   Scope = "PTP only"
	NTPOnly   Scope = "NTP only"
	NTPAndPTP Scope = "NTP and PTP only"
	All       Scope = "all packets"
)

// Hardware returns which packets the hardware can stamp.
func (a *Abilities) Hardware() Scope {
	if !a.HardwareTX || !a.HardwareRX || !a.RawHardware || !slices.Contains(a.TX, TXOn) {
		return Nothing
	}
	ptp, ntp := slices.ContainsFunc(a.RX, Filter.ptp), slices.Contains(a.RX, RXNTPAll)
	switch {
	case slices.Contains(a.RX, RXAll):
		return All
	case ptp && ntp:
		return NTPAndPTP
	case ptp:
		return PTPOnly
	case ntp:
		return NTPOnly
	}
	return Nothing
}

// Device returns the path of the clock of hardware stamps, and false if there is none.
func (a *Abilities) Device() (string, bool) {
	n, ok := a.PHC.Value()
	return fmt.Sprintf("/dev/ptp%d", n), ok
}

// Sentence says in plain words what the interface stamps and what that means for NTP
// and PTP.
func (a *Abilities) Sentence() string {
	hardware := ""
	switch a.Hardware() {
	case All, NTPAndPTP:
		hardware = "stamps NTP and PTP in hardware"
	case PTPOnly:
		hardware = "stamps PTP only: NTP stays kernel"
	case NTPOnly:
		hardware = "stamps NTP only in hardware: PTP stays kernel"
	case Nothing:
		return "no hardware stamps: " + a.kernelSentence()
	}
	if device, ok := a.Device(); ok {
		hardware += " (clock " + device + ")"
	} else {
		hardware += " (its clock cannot be reached)"
	}
	if a.SoftwareTX && a.SoftwareRX {
		return hardware
	}
	return hardware + "; " + a.kernelSentence()
}

func (a *Abilities) kernelSentence() string {
	switch {
	case a.SoftwareTX && a.SoftwareRX:
		return "the kernel stamps what leaves and what arrives"
	case a.SoftwareRX:
		return "the kernel stamps what arrives, but not what leaves (its driver does not tell)"
	case a.SoftwareTX:
		return "the kernel stamps what leaves, but not what arrives"
	}
	return "nor does the kernel stamp anything"
}

// Stamps is the short form for a header: "kernel tx rx; hardware PTP only, /dev/ptp0".
func (a *Abilities) Stamps() string {
	var parts []string
	var kernel []string
	if a.SoftwareTX {
		kernel = append(kernel, "tx")
	}
	if a.SoftwareRX {
		kernel = append(kernel, "rx")
	}
	if kernel != nil {
		parts = append(parts, "kernel "+strings.Join(kernel, " "))
	}
	if scope := a.Hardware(); scope != Nothing {
		hardware := "hardware " + string(scope)
		if device, ok := a.Device(); ok {
			hardware += ", " + device
		}
		parts = append(parts, hardware)
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// Facts returns what a trace's header says of the interface its packets used. What
// cannot be told is left out.
func Facts(iface string) []datasets.Field {
	facts := []datasets.Field{{Key: "nic", Value: iface}}
	a, err := Inspect(iface)
	if err != nil {
		return facts
	}
	if a.Driver != "" {
		facts = append(facts, datasets.Field{Key: "nic-driver", Value: a.Driver})
	}
	return append(facts, datasets.Field{Key: "nic-stamps", Value: a.Stamps()})
}

// The bits of SO_TIMESTAMPING that ethtool reports (include/uapi/linux/net_tstamp.h).
const (
	bitTXHardware = 1 << iota
	bitTXSoftware
	bitRXHardware
	bitRXSoftware
	bitSoftware
	bitSysHardware
	bitRawHardware
)

// decode reads the masks of struct ethtool_ts_info (include/uapi/linux/ethtool.h): in
// txTypes and rxFilters bit n says that the value n can be asked for.
func (a *Abilities) decode(stamping uint32, phc int32, txTypes, rxFilters uint32) {
	has := func(bits uint32) bool { return stamping&bits == bits }
	a.SoftwareTX, a.SoftwareRX = has(bitTXSoftware|bitSoftware), has(bitRXSoftware|bitSoftware)
	a.HardwareTX, a.HardwareRX, a.RawHardware = has(bitTXHardware), has(bitRXHardware), has(bitRawHardware)
	if phc >= 0 {
		a.PHC = datasets.Some(int(phc))
	}
	a.TX, a.RX = bits[TXType](txTypes), bits[Filter](rxFilters)
}
