package doctor

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/nic"
)

// patient is a host made up for a test. The zero of each change is the healthy one: a
// server of its own with a NIC that stamps all, one daemon and all rights.
type patient struct {
	files   map[string]string // laid over the healthy ones; "" takes a file away
	links   map[string]string
	locked  []string // paths that this user may not read, with all below them
	nics    map[string]nic.Abilities
	config  map[string]nic.Config
	kernel  func(*Discipline)
	suspend time.Duration
	self    func() (string, bool, error)
}

func healthyFiles() map[string]string {
	return map[string]string{
		"sys/devices/system/clocksource/clocksource0/current_clocksource":   "tsc\n",
		"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n",
		"sys/class/net/lo/type":                   "772\n",
		"sys/class/net/lo/operstate":              "unknown\n",
		"sys/class/net/eth0/type":                 "1\n",
		"sys/class/net/eth0/operstate":            "up\n",
		"sys/class/net/eth0/device/vendor":        "0x8086\n",
		"sys/class/ptp/ptp0/clock_name":           "0000:03:00.0\n",
		"sys/class/ptp/ptp0/device/net/eth0/type": "1\n",
		"dev/ptp0":                                              "",
		"sys/devices/system/cpu/online":                         "0-3\n",
		"sys/devices/system/cpu/isolated":                       "\n",
		"sys/devices/system/cpu/nohz_full":                      "(null)\n",
		"sys/devices/system/cpu/smt/active":                     "0\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":  "performance\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/name":       "POLL\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/latency":    "0\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state0/disable":    "0\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state1/name":       "C1\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state1/latency":    "2\n",
		"sys/devices/system/cpu/cpu0/cpuidle/state1/disable":    "0\n",
		"sys/devices/system/cpu/cpu10/cpufreq/scaling_governor": "performance\n",
		"sys/class/dmi/id/sys_vendor":                           "Supermicro\n",
		"sys/class/dmi/id/product_name":                         "SYS-1\n",
		"proc/cpuinfo":                                          "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n",
		"proc/stat":                                             "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 1 2 3\n",
		"proc/self/status":                                      "Name:\ttickmark\nGid:\t1000\t1000\t1000\t1000\nGroups:\t1000 27 \nCapEff:\t000001ffffffffff\n",
		"proc/self/limits":                                      "Limit                     Soft Limit           Hard Limit           Units     \nMax realtime priority     0                    0                    \n",
		"proc/self/cgroup":                                      "0::/user.slice/session.scope\n",
		"sys/fs/cgroup/cgroup.controllers":                      "cpu io memory\n",
		"sys/fs/cgroup/user.slice/cpu.max":                      "max 100000\n",
		"proc/sys/kernel/sched_rt_runtime_us":                   "950000\n",
		"proc/sys/kernel/sched_rt_period_us":                    "1000000\n",
		"proc/sys/net/core/rmem_max":                            "8388608\n",
		"proc/sys/net/ipv4/ping_group_range":                    "0\t2147483647\n",
		"proc/sys/net/ipv4/ip_unprivileged_port_start":          "1024\n",
		"proc/1/stat":                                           "1 (systemd) S 0 1 1\n",
		"proc/1/cmdline":                                        "/sbin/init\x00",
		"proc/2/stat":                                           "2 (kthreadd) S 0 0 0\n",
		"proc/2/comm":                                           "kthreadd\n",
		"proc/2/cmdline":                                        "",
		"proc/812/stat":                                         "812 (chronyd) S 1 812 812\n",
		"proc/812/cmdline":                                      "/usr/sbin/chronyd\x00-F\x001\x00",
		"proc/815/stat":                                         "815 (chronyd) S 812 812 812\n", // its helper
		"proc/815/cmdline":                                      "/usr/sbin/chronyd\x00-F\x001\x00",
		"etc/chrony/chrony.conf":                                "# servers\npool 2.debian.pool.ntp.org iburst\nserver ntp1.example.net # ours\nrtcsync\n",
	}
}

func allPackets() nic.Abilities {
	return nic.Abilities{
		Interface: "eth0", Driver: "igb", SoftwareTX: true, SoftwareRX: true, HardwareTX: true, HardwareRX: true, RawHardware: true,
		PHC: datasets.Some(0), TX: []nic.TXType{nic.TXOff, nic.TXOn}, RX: []nic.Filter{nic.RXNone, nic.RXAll},
	}
}

func kernelOnly(iface, driver string) nic.Abilities {
	return nic.Abilities{Interface: iface, Driver: driver, SoftwareTX: true, SoftwareRX: true}
}

func (p patient) host() *Host {
	files := healthyFiles()
	maps.Copy(files, p.files)
	system := fstest.MapFS{}
	for path, text := range files {
		if replaced, ok := p.files[path]; !ok || replaced != "" {
			system[path] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	for path, to := range p.links {
		system[path] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink}
	}
	nics := p.nics
	if nics == nil {
		nics = map[string]nic.Abilities{"eth0": allPackets()}
	}
	config := p.config
	if config == nil {
		config = map[string]nic.Config{"eth0": {TX: nic.TXOn, RX: nic.RXAll}}
	}
	kernel := Discipline{MaxError: 12 * time.Millisecond, EstimatedError: 20 * time.Microsecond, TAI: 37 * time.Second, RatePPM: -12.345}
	if p.kernel != nil {
		p.kernel(&kernel)
	}
	return &Host{
		FS: locked{system, p.locked}, Executable: "/usr/local/bin/tickmark",
		Inspect: func(iface string) (nic.Abilities, error) {
			if a, ok := nics[iface]; ok {
				return a, nil
			}
			return nic.Abilities{}, errors.ErrUnsupported
		},
		NICConfig: func(iface string) (nic.Config, error) {
			if c, ok := config[iface]; ok {
				return c, nil
			}
			return nic.Config{}, errors.ErrUnsupported
		},
		Discipline: func() (Discipline, error) { return kernel, nil },
		Suspended:  func() (time.Duration, error) { return p.suspend, nil },
		SelfTest:   p.self,
	}
}

// locked is a file system in which some paths may not be read.
type locked struct {
	fstest.MapFS
	paths []string
}

func (l locked) denies(op, name string) error {
	for _, p := range l.paths {
		if name == p || strings.HasPrefix(name, p+"/") {
			return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
		}
	}
	return nil
}

func (l locked) Open(name string) (fs.File, error) {
	if err := l.denies("open", name); err != nil {
		return nil, err
	}
	return l.MapFS.Open(name)
}

func (l locked) ReadFile(name string) ([]byte, error) {
	if err := l.denies("open", name); err != nil {
		return nil, err
	}
	return l.MapFS.ReadFile(name)
}

func (l locked) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := l.denies("readdir", name); err != nil {
		return nil, err
	}
	return l.MapFS.ReadDir(name)
}

func TestAHealthyHostHasNothingInTheWay(t *testing.T) {
	d := Examine(patient{}.host())
	wellFormed(t, d)
	wellWorded(t, d)
	for _, f := range d.Findings {
		if f.State != OK {
			t.Errorf("%+v", f)
		}
	}
	if want := "This host can stamp in hardware (all packets on eth0) and in the kernel."; d.Stamps != want {
		t.Errorf("got %q, want %q", d.Stamps, want)
	}
	if len(d.Unread) > 0 || d.Count(OK) < 14 {
		t.Errorf("%d in order, unread %q", d.Count(OK), d.Unread)
	}
	saysOf(t, d, "phc ptp0", OK, "/dev/ptp0 (0000:03:00.0) of eth0: nobody holds it open")
	saysOf(t, d, "time daemons", OK, "chronyd (pid 812) steers the system clock")
	saysOf(t, d, "kernel clock", OK, "synchronised, error at most 12 ms, rate correction -12.345 ppm")
}

// saysOf checks that a finding on subject has the state and contains each of words, in
// any of its sentences.
func saysOf(t *testing.T, d *Diagnosis, subject string, state State, words ...string) {
	t.Helper()
	var seen []Finding
	for _, f := range d.Findings {
		if f.Subject != subject {
			continue
		}
		seen = append(seen, f)
		all := f.What + "\n" + f.Why + "\n" + f.Do
		if f.State == state && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
			return
		}
	}
	t.Errorf("no finding on %q in state %q that says %q; of it: %+v", subject, state, words, seen)
}

// wellFormed is what holds for every finding of every host.
func wellFormed(t *testing.T, d *Diagnosis) {
	t.Helper()
	worst := 0
	for _, f := range d.Findings {
		at := slices.Index(States(), f.State)
		if at < worst {
			t.Errorf("a %q after worse ones: %+v", f.State, f)
		}
		worst = max(worst, at)
		if f.Subject == "" || f.What == "" || len(f.Subject) > 40 {
			t.Errorf("no subject or nothing said: %+v", f)
		}
		if inWay := f.State != OK; inWay != (f.Why != "") || inWay != (f.Do != "") {
			t.Errorf("why and do belong to what stands in the way, and to nothing else: %+v", f)
		}
	}
	for _, u := range d.Unread {
		if !strings.Contains(u, "read") && !strings.Contains(u, "hidden") && !strings.Contains(u, "look") {
			t.Errorf("unread: %q", u)
		}
	}
}

// wellWorded is what holds as long as nobody else has a word in it.
func wellWorded(t *testing.T, d *Diagnosis) {
	t.Helper()
	for _, f := range d.Findings {
		for _, text := range []string{f.What, f.Why, f.Do} {
			if strings.HasSuffix(text, ".") || strings.Contains(text, "  ") || strings.Contains(text, "%!") || strings.TrimSpace(text) != text ||
				strings.Count(text, "`")%2 != 0 {
				t.Errorf("unfinished: %q", text)
			}
		}
	}
}

// FuzzHost gives one file of a healthy host other contents. Whatever they are, the
// findings are well formed, and only what stands of interfaces changes what can be stamped.
func FuzzHost(f *testing.F) {
	paths := slices.Sorted(maps.Keys(healthyFiles()))
	for i := range paths {
		f.Add(uint16(i), "")
		f.Add(uint16(i), "-1 -1\n")
	}
	f.Add(uint16(slices.Index(paths, "proc/812/cmdline")), "chronyd\x00-f\x00")
	f.Add(uint16(slices.Index(paths, "sys/fs/cgroup/user.slice/cpu.max")), "9223372036854775807 1\n")
	healthy := Examine(patient{}.host()).Stamps
	f.Fuzz(func(t *testing.T, which uint16, text string) {
		path := paths[int(which)%len(paths)]
		d := Examine(patient{files: map[string]string{path: text + "\n"}}.host())
		wellFormed(t, d)
		if d.Stamps != healthy && !strings.HasPrefix(path, netClass) {
			t.Errorf("%s: %s", path, d.Stamps)
		}
		if len(d.Findings) < len(Checks())-2 || len(d.Unread) > 1 {
			t.Errorf("%d findings, unread %q", len(d.Findings), d.Unread)
		}
	})
}

func TestAnotherSystemIsSaidToBe(t *testing.T) {
	d := Examine(&Host{})
	wellFormed(t, d)
	saysOf(t, d, "system", Note, "Linux only")
}
