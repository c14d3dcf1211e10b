package nic

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/probes/netlab"
)

// TestInspectSaysWhatEthtoolSays holds both ends of a cable and loopback to
// `ethtool -T`, word for word.
func TestInspectSaysWhatEthtoolSays(t *testing.T) {
	ethtool := netlab.Need(t, "ethtool")
	lab := netlab.New(t)
	for _, iface := range []string{lab.Client.Interface, "lo"} {
		out, err := exec.Command(netlab.Need(t, "ip"), "netns", "exec", lab.Client.Name, ethtool, "-T", iface).CombinedOutput()
		if err != nil {
			t.Fatalf("ethtool -T %s: %v: %s", iface, err, out)
		}
		var a Abilities
		check(t, lab.Client.Do(func() (err error) { a, err = Inspect(iface); return err }))
		says := strings.Fields(string(out))
		for word, have := range map[string]bool{
			"software-transmit": a.SoftwareTX, "software-receive": a.SoftwareRX, "hardware-transmit": a.HardwareTX,
			"hardware-receive": a.HardwareRX, "hardware-raw-clock": a.RawHardware,
		} {
			if said := slices.Contains(says, word); said != have {
				t.Errorf("%s: %s is %t, ethtool says %t:\n%s", iface, word, have, said, out)
			}
		}
		if _, ok := a.PHC.Value(); ok || a.Hardware() != Nothing || len(a.TX)+len(a.RX) > 0 {
			t.Errorf("%s: %+v, want no hardware", iface, a)
		}
	}
}

func TestInspectNamesTheDriver(t *testing.T) {
	lab := netlab.New(t)
	var a Abilities
	check(t, lab.Client.Do(func() (err error) { a, err = Inspect(lab.Client.Interface); return err }))
	if a.Driver != "veth" || a.Interface != lab.Client.Interface {
		t.Errorf("%+v, want driver veth", a)
	}
	var facts string
	check(t, lab.Client.Do(func() error {
		for _, f := range Facts(lab.Client.Interface) {
			facts += f.Key + "=" + f.Value + "\n"
		}
		return nil
	}))
	if want := "nic=vc\nnic-driver=veth\nnic-stamps=kernel tx rx\n"; facts != want {
		t.Errorf("facts %q, want %q", facts, want)
	}
}

func TestWrongInterfacesAreNamed(t *testing.T) {
	for _, iface := range []string{"no-such-nic", "a-name-longer-than-16-bytes", ""} {
		_, err := Inspect(iface)
		if err == nil || !strings.Contains(err.Error(), `"`+iface+`"`) {
			t.Errorf("%q: error %v, want one that names it", iface, err)
		}
		if facts := Facts(iface); len(facts) != 1 {
			t.Errorf("%q: facts %v, want its name only", iface, facts)
		}
	}
	if _, err := Inspect("no-such-nic"); !errors.Is(err, unix.ENODEV) {
		t.Errorf("error %v, want %v", err, unix.ENODEV)
	}
}

// TestNoHardwareIsUnsupported: a virtual cable has no hardware stamps to configure,
// and nothing is written to it.
func TestNoHardwareIsUnsupported(t *testing.T) {
	lab := netlab.New(t)
	check(t, lab.Client.Do(func() error {
		if _, err := ReadConfig(lab.Client.Interface); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("read: error %v, want ErrUnsupported", err)
		}
		restore, err := Configure(lab.Client.Interface, Config{TX: TXOn, RX: RXAll})
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("configure: error %v, want ErrUnsupported", err)
		}
		return restore()
	}))
}

// TestNumbersAreTheKernels holds our numbering to that of x/sys.
func TestNumbersAreTheKernels(t *testing.T) {
	for ours, theirs := range map[int]int{
		int(TXOneStepP2P): unix.HWTSTAMP_TX_ONESTEP_P2P, int(RXAll): unix.HWTSTAMP_FILTER_ALL,
		int(RXPTPv2Event): unix.HWTSTAMP_FILTER_PTP_V2_EVENT, int(RXNTPAll): unix.HWTSTAMP_FILTER_NTP_ALL,
		bitRawHardware: unix.SOF_TIMESTAMPING_RAW_HARDWARE, bitSoftware: unix.SOF_TIMESTAMPING_SOFTWARE,
	} {
		if ours != theirs {
			t.Errorf("ours %d, the kernel's %d", ours, theirs)
		}
	}
}

func TestTowards(t *testing.T) {
	lab := netlab.New(t)
	ip := netlab.Need(t, "ip")
	for _, line := range []string{
		"addr add fd77::2/64 dev vc nodad", "addr add 10.88.0.1/32 dev lo",
		// The same source address on two interfaces: only the routing table knows.
		"link add twin type veth peer name niwt", "addr add 10.77.0.2/32 dev twin", "link set twin up", "link set niwt up",
		"route add 10.99.0.0/24 dev twin src 10.77.0.2",
	} {
		if out, err := exec.Command(ip, append([]string{"-n", lab.Client.Name}, strings.Fields(line)...)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %s", line, out)
		}
	}
	for addr, want := range map[string]string{
		"10.77.0.1": "vc", "::ffff:10.77.0.1": "vc", "10.77.0.2": "lo", "127.0.0.1": "lo", "::1": "lo", "10.88.0.1": "lo",
		"fd77::1": "vc", "fd77::2": "lo", "fe80::1%vc": "vc", "10.99.0.7": "twin",
	} {
		check(t, lab.Client.Do(func() error {
			at := netip.MustParseAddr(addr)
			if got, err := Towards(at); got != want || err != nil {
				t.Errorf("towards %s: %q, %v, want %q", addr, got, err, want)
			}
			if got, err := bySource(at.Unmap()); want != "twin" && at.Zone() == "" && (got != want || err != nil) {
				t.Errorf("towards %s by its source: %q, %v, want %q", addr, got, err, want)
			}
			return nil
		}))
	}
	check(t, lab.Client.Do(func() error {
		if got, err := Towards(netip.MustParseAddr("192.0.2.1")); err == nil || !strings.Contains(err.Error(), "192.0.2.1") {
			t.Errorf("without a route: %q, %v, want an error that names the address", got, err)
		}
		return nil
	}))
	if _, err := Towards(netip.Addr{}); err == nil {
		t.Error("no address leads somewhere")
	}
}

func TestNoSocketIsLeftOpen(t *testing.T) {
	before := openFiles(t)
	for range 100 {
		_, _ = Inspect("lo")
		_, _ = Towards(netip.MustParseAddr("127.0.0.1"))
		_, _ = ReadConfig("no-such-nic")
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(all)
}

// FuzzRouteReply: whatever comes, an index is one that stands in the reply, and an
// error of the kernel is never an interface.
func FuzzRouteReply(f *testing.F) {
	route := append([]byte{unix.AF_INET, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, attr(unix.RTA_OIF, 7)...)
	f.Add(message(unix.RTM_NEWROUTE, route))
	f.Add(message(unix.NLMSG_ERROR, binary.NativeEndian.AppendUint32(nil, uint32(0xffffff9b)))) // -101, ENETUNREACH
	f.Add(message(unix.RTM_NEWROUTE, route[:12]))
	f.Fuzz(func(t *testing.T, reply []byte) {
		index, err := outgoing(reply)
		if err != nil {
			return
		}
		want := binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint16(nil, unix.RTA_OIF), uint32(index))
		if !strings.Contains(string(reply), string(want)) {
			t.Errorf("index %d is not in % x", index, reply)
		}
	})
}

func TestRouteReply(t *testing.T) {
	route := append([]byte{unix.AF_INET, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, attr(unix.RTA_OIF, 7)...)
	if index, err := outgoing(message(unix.RTM_NEWROUTE, route)); index != 7 || err != nil {
		t.Errorf("index %d, %v, want 7", index, err)
	}
	// struct nlmsgerr: the negative error number.
	refused := binary.NativeEndian.AppendUint32(nil, uint32(0xffffff9b))
	if _, err := outgoing(message(unix.NLMSG_ERROR, refused)); !errors.Is(err, unix.ENETUNREACH) {
		t.Errorf("error %v, want %v", err, unix.ENETUNREACH)
	}
}

func message(kind uint16, data []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	return append(append(b, make([]byte, 10)...), data...)
}

func attr(kind uint16, value uint32) []byte {
	b := binary.NativeEndian.AppendUint16(nil, 8)
	b = binary.NativeEndian.AppendUint16(b, kind)
	return binary.NativeEndian.AppendUint32(b, value)
}
