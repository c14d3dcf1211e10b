package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/nic"
)

const unprivileged = "Gid:\t1000\t1000\t1000\t1000\nGroups:\t1000 27 \nCapEff:\t0000000000000000\n"

func TestChecks(t *testing.T) {
	ptpOnly := allPackets()
	ptpOnly.RX = []nic.Filter{nic.RXNone, nic.RXPTPv2Event}
	for _, test := range []struct {
		name    string
		host    patient
		subject string
		state   State
		says    []string
	}{
		// Interfaces.
		{
			"a NIC that stamps PTP only",
			patient{nics: map[string]nic.Abilities{"eth0": ptpOnly}},
			"nic eth0", Note,
			[]string{"stamps PTP only: NTP stays kernel", "switched on (tx on, rx all)", "ntp-all"},
		},
		{
			"hardware stamps switched off",
			patient{config: map[string]nic.Config{"eth0": {}}},
			"nic eth0", Note,
			[]string{"stamps NTP and PTP in hardware", "switched off", "--allow-nic-config"},
		},
		{
			"a NIC without hardware stamps",
			patient{nics: map[string]nic.Abilities{"eth0": kernelOnly("eth0", "e1000")}},
			"nic eth0", Note,
			[]string{"driver e1000, no hardware stamps", "ethtool -T"},
		},
		{
			"the same in a guest", patient{
				nics:  map[string]nic.Abilities{"eth0": kernelOnly("eth0", "virtio_net")},
				files: map[string]string{"sys/class/dmi/id/sys_vendor": "QEMU\n"},
			}, "nic eth0", Note, []string{"in a virtual machine"},
		},
		{"a driver that says nothing", patient{nics: map[string]nic.Abilities{}}, "nic eth0", Note, []string{"does not say"}},
		{"a cable pulled out", patient{files: map[string]string{"sys/class/net/eth0/operstate": "down\n"}}, "nic eth0", OK, []string{"the link is down"}},
		{"a wireless one", patient{files: map[string]string{"sys/class/net/eth0/phy80211/index": "0\n"}}, "nic eth0", Note, []string{"milliseconds"}},
		{
			"a container's ends of virtual cables", patient{
				files: map[string]string{
					"sys/class/net/eth0/device/vendor": "", "sys/class/net/eth1/type": "1\n", "sys/class/net/eth1/operstate": "up\n",
					"sys/class/net/ifb0/type": "1\n", "sys/class/net/ifb0/operstate": "down\n",
				},
				nics: map[string]nic.Abilities{"eth0": kernelOnly("eth0", "veth"), "eth1": kernelOnly("eth1", "veth"), "ifb0": {}},
			}, "nics", Note, []string{"2 virtual interfaces (eth0, eth1): no hardware stamps"},
		},
		// Hardware clocks.
		{
			"a clock in use", patient{
				files: map[string]string{"proc/77/stat": "77 (ptp4l) S 1\n", "proc/77/cmdline": "ptp4l\x00-i\x00eth0\x00"},
				links: map[string]string{"proc/77/fd/5": "/dev/ptp0", "proc/812/fd/1": "/dev/null"},
			}, "phc ptp0", OK, []string{"in use by ptp4l (pid 77)"},
		},
		{
			"a clock for root only",
			patient{locked: []string{"dev/ptp0"}},
			"phc ptp0", Warning,
			[]string{"may not open it", "udev", "usermod -aG clock"},
		},
		{"a clock not passed in", patient{files: map[string]string{"dev/ptp0": ""}}, "phc ptp0", Warning, []string{"--device /dev/ptp0"}},
		{
			"a KVM guest without one", patient{files: map[string]string{
				"sys/class/ptp/ptp0/clock_name": "", "sys/class/ptp/ptp0/device/net/eth0/type": "", "sys/class/dmi/id/sys_vendor": "QEMU\n",
			}}, "hardware clocks", Note, []string{"modprobe ptp_kvm"},
		},
		// Clock source.
		{
			"hpet although tsc is there",
			patient{files: map[string]string{clockSource + "current_clocksource": "hpet\n"}},
			"clock source", Warning,
			[]string{"hpet", "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"},
		},
		{
			"acpi_pm and no tsc",
			patient{files: map[string]string{clockSource + "current_clocksource": "acpi_pm\n", clockSource + "available_clocksource": "acpi_pm\n"}},
			"clock source", Warning,
			[]string{"dmesg"},
		},
		{"jiffies", patient{files: map[string]string{clockSource + "current_clocksource": "jiffies\n"}}, "clock source", Problem, []string{"1 to 10 ms"}},
		{"one unheard of", patient{files: map[string]string{clockSource + "current_clocksource": "sundial\n"}}, "clock source", Note, []string{"sundial"}},
		{"none told", patient{files: map[string]string{clockSource + "current_clocksource": ""}}, "clock source", Note, nil},
		// The kernel's clock.
		{
			"unsynchronised under a daemon",
			patient{kernel: func(d *Discipline) { d.Unsynchronised, d.MaxError = true, 16*time.Second }},
			"kernel clock", Warning,
			[]string{"although chronyd runs; its error", "ceiling of 16 s", "rtcsync"},
		},
		{
			"told nothing for long", patient{kernel: func(d *Discipline) { d.MaxError = 5 * time.Second }}, // 5 s ÷ 500 µs/s
			"kernel clock", Warning, []string{"error at most 5 s", "2h46m40s"},
		},
		{"2^32 ns", patient{kernel: func(d *Discipline) { d.EstimatedError = 1 << 32 }}, "kernel clock", Warning, []string{"KVM"}},
		{"at the limit of its rate", patient{kernel: func(d *Discipline) { d.RatePPM = -500 }}, "kernel clock", Warning, []string{"-500 ppm"}},
		{"no TAI", patient{kernel: func(d *Discipline) { d.TAI = 0 }}, "TAI offset", Note, []string{"37 s", "utc-offset"}},
		{"an odd TAI", patient{kernel: func(d *Discipline) { d.TAI = 35 * time.Second }}, "TAI offset", Warning, []string{"35 s"}},
		{"a leap second tonight", patient{kernel: func(d *Discipline) { d.LeapInsert = true }}, "leap second", Warning, []string{"midnight UTC"}},
		// Rights.
		{
			"a user without any",
			patient{files: map[string]string{"proc/self/status": unprivileged}},
			"rights", Note,
			[]string{
				"sudo setcap cap_net_bind_service,cap_net_raw=ep /usr/local/bin/tickmark", "kernel stamps work without",
				"319 and 320", "watched", "--allow-nic-config",
			},
		},
		{
			"ports are free",
			patient{files: map[string]string{"proc/self/status": unprivileged, "proc/sys/net/ipv4/ip_unprivileged_port_start": "319\n"}},
			"rights", Note,
			[]string{"sudo setcap cap_net_raw=ep"},
		},
		{
			"not enough ports are",
			patient{files: map[string]string{"proc/self/status": unprivileged, "proc/sys/net/ipv4/ip_unprivileged_port_start": "320\n"}},
			"rights", Note,
			[]string{"sudo setcap cap_net_bind_service,cap_net_raw=ep"},
		},
		{
			"all but the NIC", patient{files: map[string]string{"proc/self/status": "CapEff:\t0000000000002400\n"}}, // bits 10 and 13
			"rights", Note, []string{"lacks cap_net_admin;", "switched off stay off"},
		},
		{
			"no real-time priority",
			patient{files: map[string]string{"proc/self/status": unprivileged}},
			"real-time", Note,
			[]string{"rtprio is 0", "chrt -f 20"},
		},
		{
			"a limit that allows it",
			patient{files: map[string]string{"proc/self/status": unprivileged, "proc/self/limits": "Max realtime priority     95                   95\n"}},
			"real-time", OK,
			[]string{"50 ms of every 1 s"},
		},
		{
			"a group without a budget", patient{files: map[string]string{
				"proc/self/cgroup": "4:cpu,cpuacct:/docker/x\n0::/\n", "sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.rt_runtime_us": "0\n",
			}}, "real-time", Note, []string{"cpu.rt_runtime_us is 0"},
		},
		{"real time switched off", patient{files: map[string]string{"proc/sys/kernel/sched_rt_runtime_us": "0\n"}}, "real-time", Note, []string{"sysctl -w kernel.sched_rt"}},
		{
			"daemons that answer to root",
			patient{files: map[string]string{"proc/self/status": unprivileged}},
			"daemon sockets", Note,
			[]string{"chronyd may answer in full to root only", "opencommands"},
		},
		// Sockets.
		{
			"small buffers",
			patient{files: map[string]string{"proc/self/status": unprivileged, "proc/sys/net/core/rmem_max": "212992\n"}},
			"socket buffers", Note,
			[]string{"208 KiB", "4096", "sysctl -w net.core.rmem_max=4194304"},
		},
		{"small, but not for this user", patient{files: map[string]string{"proc/sys/net/core/rmem_max": "212992\n"}}, "socket buffers", OK, nil},
		{
			"no pings",
			patient{files: map[string]string{"proc/self/status": unprivileged, "proc/sys/net/ipv4/ping_group_range": "1\t0\n"}},
			"ping", Note,
			[]string{"1 0", "ping_group_range='0 2147483647'"},
		},
		{
			"pings for a group of this user",
			patient{files: map[string]string{"proc/self/status": unprivileged, "proc/sys/net/ipv4/ping_group_range": "27\t27\n"}},
			"ping", OK, nil,
		},
		// Processors.
		{
			"one that saves power",
			patient{files: map[string]string{"sys/devices/system/cpu/cpu10/cpufreq/scaling_governor": "schedutil\n"}},
			"cpu speed", Note,
			[]string{"performance and schedutil", "cpupower frequency-set"},
		},
		{
			"deep sleep", patient{files: map[string]string{
				"sys/devices/system/cpu/cpu0/cpuidle/state2/name": "C6\n", "sys/devices/system/cpu/cpu0/cpuidle/state2/latency": "133\n",
				"sys/devices/system/cpu/cpu0/cpuidle/state10/name": "C10\n", "sys/devices/system/cpu/cpu0/cpuidle/state10/latency": "900\n",
				"sys/devices/system/cpu/cpu0/cpuidle/state10/disable": "1\n", "sys/devices/system/cpu/cpuidle/current_driver": "intel_idle\n",
			}}, "cpu sleep", Note, []string{"C6", "133 µs", "idle-set -D 10", "intel_idle.max_cstate=1"},
		},
		{"one processor", patient{files: map[string]string{"sys/devices/system/cpu/online": "0\n"}}, "cpus", Note, []string{"only one"}},
		{
			"isolated ones",
			patient{files: map[string]string{"sys/devices/system/cpu/isolated": "2-3\n", "sys/devices/system/cpu/nohz_full": "2-3\n", "sys/devices/system/cpu/smt/active": "1\n"}},
			"cpus", OK,
			[]string{"taskset -c 2`", "without timer ticks", "SMT"},
		},
		// Machines and containers.
		{
			"a crowded virtual machine", patient{files: map[string]string{
				"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "proc/stat": "cpu  100 0 100 780 0 0 0 20 7 7\n",
			}}, "machine", Warning, []string{"Amazon EC2", "2 % of its processor time", "less crowded"},
		},
		{
			"KVM without DMI", patient{files: map[string]string{
				"sys/class/dmi/id/sys_vendor": "", "proc/cpuinfo": "flags\t\t: fpu hypervisor\n", clockSource + "available_clocksource": "tsc kvm-clock\n",
			}}, "machine", Note, []string{"on KVM", "0 %"},
		},
		{"a metal instance", patient{files: map[string]string{"sys/class/dmi/id/sys_vendor": "Amazon EC2\n", "sys/class/dmi/id/product_name": "c5.metal\n"}}, "machine", OK, nil},
		{
			"a quota that was spent", patient{files: map[string]string{
				"sys/fs/cgroup/user.slice/cpu.max":  "60000 100000\n",
				"sys/fs/cgroup/user.slice/cpu.stat": "usage_usec 5\nnr_periods 100\nnr_throttled 12\nthrottled_usec 3400000\n",
			}}, "cpu quota", Warning, []string{"60 ms of processor time in every 100 ms, as of 0.6 processors", "spent in 12 of 100 periods", "3.4 s of standing still"},
		},
		{
			"the tightest of several", patient{files: map[string]string{
				"sys/fs/cgroup/user.slice/cpu.max": "200000 100000\n", "sys/fs/cgroup/user.slice/session.scope/cpu.max": "max 100000\n", "sys/fs/cgroup/cpu.max": "50000 50000\n",
			}}, "cpu quota", Note, []string{"as of 1 processor"},
		},
		{
			"a quota of version 1 in a container", patient{files: map[string]string{
				"proc/self/cgroup":                           "3:cpu,cpuacct:/docker/0123\n1:name=systemd:/docker/0123\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000\n", "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.stat": "nr_periods 10\nnr_throttled 1\nthrottled_time 50000000\n",
			}}, "cpu quota", Warning, []string{"150 ms of processor time in every 100 ms, as of 1.5 processors", "50 ms of standing still"},
		},
		{
			"inside a container",
			patient{files: map[string]string{"proc/2/comm": "", "proc/self/cgroup": "0::/kubepods/x\n", ".dockerenv": " "}},
			"container", Note,
			[]string{"(/.dockerenv and kubepods in /proc/self/cgroup)", "--network host"},
		},
		// Sleep and self-test.
		{"a laptop that slept", patient{suspend: 90 * time.Minute}, "suspend", Note, []string{"1h30m0s", "systemd-inhibit"}},
		{"no self-test yet", patient{self: func() (string, bool, error) { return "", false, nil }}, "self-test", Note, []string{"`tickmark selftest`"}},
		{"a self-test", patient{self: func() (string, bool, error) { return "bias 340 ns", true, nil }}, "self-test", OK, []string{"bias 340 ns"}},
		{"a broken self-test", patient{self: func() (string, bool, error) { return "", false, errors.New("torn") }}, "self-test", Note, []string{"torn"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Examine(test.host.host())
			wellFormed(t, d)
			wellWorded(t, d)
			saysOf(t, d, test.subject, test.state, test.says...)
		})
	}
}

func TestWhatWasNotReadIsNamed(t *testing.T) {
	d := Examine(patient{
		locked: []string{"proc/1/fd", "proc/812/fd", "etc/chrony/chrony.conf"},
		links:  map[string]string{"proc/815/fd/3": "/dev/null"},
		files:  map[string]string{"proc/1/fd/1": "x", "proc/812/fd/1": "x"},
	}.host())
	wellFormed(t, d)
	saysOf(t, d, "phc ptp0", OK, "who uses it is not told")
	if len(d.Unread) != 2 || !strings.Contains(d.Unread[0], "/etc/chrony/chrony.conf could not be read") || !strings.Contains(d.Unread[1], "open files of 2 processes") {
		t.Errorf("unread: %q", d.Unread)
	}
	hidden := Examine(patient{files: map[string]string{"proc/1/stat": "", "proc/2/stat": "", "proc/2/comm": "", "proc/812/stat": "", "proc/815/stat": ""}}.host())
	wellFormed(t, hidden)
	if len(hidden.Unread) != 1 || !strings.Contains(hidden.Unread[0], "hidepid") {
		t.Errorf("unread: %q", hidden.Unread)
	}
}

func TestWhatAHostCanStamp(t *testing.T) {
	second := allPackets()
	second.PHC, second.RX = datasets.Some(1), []nic.Filter{nic.RXPTPv2L2Event}
	for want, host := range map[string]patient{
		"in hardware (all packets on eth0; PTP only on eth1 and eth2) and in the kernel": {
			nics:  map[string]nic.Abilities{"eth0": allPackets(), "eth1": second, "eth2": second},
			files: map[string]string{"sys/class/net/eth1/device/vendor": "0x8086\n", "sys/class/net/eth2/device/vendor": "0x8086\n"},
		},
		"in the kernel, to about 1 µs; none of its interfaces stamps in hardware": {nics: map[string]nic.Abilities{"eth0": kernelOnly("eth0", "e1000")}},
		"only in the program":    {nics: map[string]nic.Abilities{"eth0": {}}},
		"only loopback can be":   {files: map[string]string{"sys/class/net/eth0/type": "", "sys/class/net/eth0/operstate": "", "sys/class/net/eth0/device/vendor": ""}},
		"can stamp is not known": {nics: map[string]nic.Abilities{}, files: nil},
	} {
		if got := Examine(host.host()).Stamps; !strings.Contains(got, want) {
			t.Errorf("got %q, want one with %q", got, want)
		}
	}
}
