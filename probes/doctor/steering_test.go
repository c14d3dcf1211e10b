package doctor

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/probes/nic"
)

// daemons returns the files of running processes; each line is a command.
func daemons(commands ...string) map[string]string {
	files := map[string]string{"proc/812/stat": "", "proc/815/stat": ""} // no chronyd but those
	for i, command := range commands {
		words := strings.Fields(command)
		name := words[0][strings.LastIndexByte(words[0], '/')+1:]
		dir := "proc/" + strconv.Itoa(900+i)
		files[dir+"/stat"] = strconv.Itoa(900+i) + " (" + name[:min(15, len(name))] + ") S 1 1 1\n"
		files[dir+"/cmdline"] = strings.Join(words, "\x00") + "\x00"
	}
	return files
}

// What each daemon steers, by its manual: chronyd(8), ntp.conf(5), ptp4l(8), phc2sys(8),
// facebook/time's sptp.
func TestWhoSteersWhat(t *testing.T) {
	const system, phc = "CLOCK_REALTIME", "/dev/ptp0"
	for _, test := range []struct {
		name    string
		command string
		config  map[string]string
		want    []string
	}{
		{"chronyd", "/usr/sbin/chronyd -F 1", nil, []string{system}},
		{"one that only measures", "chronyd -d -x -u root", nil, nil},
		{"one that only prints", "chronyd -Q -t 5", nil, nil},
		{"letters joined", "chronyd -dx", nil, nil},
		{"a value that looks like a letter", "chronyd -f x.conf", nil, []string{system}},
		{"timesyncd", "/usr/lib/systemd/systemd-timesyncd", nil, []string{system}},
		{"ntpd", "ntpd -p /run/ntpd.pid -c /etc/ntpsec/ntp.conf", map[string]string{"etc/ntpsec/ntp.conf": "server a\n"}, []string{system}},
		{"ntpd that may not", "ntpd -N", map[string]string{"etc/ntpsec/ntp.conf": "# no\ndisable monitor ntp\n"}, nil},
		{"ptp4l", "ptp4l -i eth0 -m", nil, []string{phc + "?"}},
		{"a client", "ptp4l -s -i eth0", nil, []string{phc}},
		{"software stamps", "ptp4l -S -i eth0", nil, []string{system + "?"}},
		{"by its file", "ptp4l -f /etc/p.conf", map[string]string{"etc/p.conf": "[global]\ntime_stamping software\nslaveOnly 1\n[eth0]\n"}, []string{system}},
		{"interfaces of its file", "ptp4l -f /etc/p.conf", map[string]string{"etc/p.conf": "[global]\n[unicast_master_table]\ntable_id 1\n[eth0]\n[eth0]\n"}, []string{phc + "?"}},
		{"an argument before its file", "ptp4l -f /etc/p.conf --free_running=1", map[string]string{"etc/p.conf": "[global]\nfree_running 0\n[eth0]\n"}, nil},
		{"free running", "ptp4l -f /etc/p.conf", map[string]string{"etc/p.conf": "[global]\nfree_running\t1\n[eth0]\n"}, nil},
		{"a master", "ptp4l -i eth0 --serverOnly 1", nil, nil},
		{"phc2sys", "phc2sys -s eth0 -w", nil, []string{system}},
		{"the other way", "phc2sys -s CLOCK_REALTIME -c eth0 -O 0", nil, []string{phc}},
		{"by a device", "phc2sys -s CLOCK_REALTIME -c /dev/ptp1", nil, []string{"/dev/ptp1"}},
		{"after ptp4l", "phc2sys -a -r", nil, []string{system + "?"}},
		{"after ptp4l, joined", "phc2sys -arr", nil, []string{system + "?"}},
		{"hardware clocks only", "phc2sys -a", nil, []string{"?"}},
		{"sptp", "sptp -config /etc/sptp.yaml", map[string]string{"etc/sptp.yaml": "iface: eth0\ntimestamping: hardware\n"}, []string{phc + "?"}},
		{"sptp that only measures", "sptp -config=/etc/sptp.yaml", map[string]string{"etc/sptp.yaml": "iface: eth0\nfreerunning: true\n"}, nil},
		{"sptp with software stamps", "sptp --config /etc/sptp.yaml", map[string]string{"etc/sptp.yaml": "timestamping: \"software\"\n"}, []string{system + "?"}},
		{"a guest agent", "/usr/bin/vmtoolsd", nil, []string{system + " rarely"}},
		{"somebody else", "/usr/bin/sleep 5", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := daemons(test.command)
			for path, text := range test.config {
				files[path] = text
			}
			v := &Visit{Host: patient{files: files}.host(), unread: map[string]int{}}
			var got []string
			for _, s := range v.steerings() {
				switch {
				case s.rarely:
					got = append(got, s.clock+" rarely")
				case !s.sure:
					got = append(got, s.clock+"?")
				default:
					got = append(got, s.clock)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.command, diff)
			}
		})
	}
}

func TestTimeDaemons(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		state State
		says  []string
	}{
		{
			"two on one clock", daemons("chronyd -F 1", "/usr/lib/systemd/systemd-timesyncd"), Problem,
			[]string{"chronyd (pid 900) and systemd-timesyncd (pid 901) both steer CLOCK_REALTIME", "systemctl disable --now"},
		},
		{
			"three", daemons("chronyd", "ntpd", "phc2sys -s eth0"), Problem,
			[]string{"chronyd (pid 900), ntpd (pid 901) and phc2sys (pid 902) all steer CLOCK_REALTIME"},
		},
		{"two that may", daemons("chronyd", "phc2sys -a -r"), Warning, []string{"may steer CLOCK_REALTIME at the same time"}},
		{
			"a PHC after the network and after the system clock", daemons("chronyd", "ptp4l -s -i eth0", "phc2sys -s CLOCK_REALTIME -c eth0"), Problem,
			[]string{"ptp4l (pid 901) and phc2sys (pid 902) both steer /dev/ptp0", "serverOnly 1"},
		},
		{"each its own", daemons("chronyd", "ptp4l -i eth0"), OK, []string{"chronyd (pid 900) steers the system clock and ptp4l (pid 901) steers /dev/ptp0"}},
		{"PTP only", daemons("ptp4l -s -i eth0"), Warning, []string{"no program that steers the system clock", "ptp4l (pid 900) steers /dev/ptp0 only", "phc2sys"}},
		{"nobody", daemons(), Warning, []string{"no program that steers the system clock was found running"}},
		{"one that measures only", daemons("chronyd -x"), Warning, []string{"no program that steers"}},
		{"an agent beside a daemon", daemons("chronyd", "vmtoolsd"), Note, []string{"vmtoolsd (pid 901) may set the clock"}},
		{"an agent beside a daemon is no rival", daemons("chronyd", "vmtoolsd"), OK, []string{"chronyd (pid 900) steers"}},
		{"a dead one", map[string]string{"proc/815/stat": "815 (ntpd) Z 1 1\n"}, OK, []string{"chronyd (pid 812) steers"}},
		{"hardware clocks of which nothing is told", daemons("chronyd", "phc2sys -a"), Note, []string{"which of them"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Examine(patient{files: test.files}.host())
			wellFormed(t, d)
			wellWorded(t, d)
			saysOf(t, d, "time daemons", test.state, test.says...)
		})
	}
	inside := daemons()
	inside["proc/2/comm"], inside[".dockerenv"] = "", " "
	saysOf(t, Examine(patient{files: inside}.host()), "time daemons", Note, "in this container", "on the host")
}

func TestProcessNamesMayHoldAnything(t *testing.T) {
	for stat, want := range map[string]string{
		"7 (a) b) (c) S 3 1":   "a) b) (c",
		"7 (sd-pam) S 3 1 1 0": "sd-pam",
	} {
		if p, ok := parseStat(7, stat); !ok || p.name != want || p.parent != 3 || p.pid != 7 {
			t.Errorf("%q: %+v, %t", stat, p, ok)
		}
	}
	for _, stat := range []string{"", "7 (chronyd", "7 chronyd) (", "7 (chronyd) Z 1", "7 (chronyd) S", "7 (chronyd) S x"} {
		if p, ok := parseStat(7, stat); ok {
			t.Errorf("%q is read as %+v", stat, p)
		}
	}
}

// FuzzOptions: keys and values come from the arguments, in order and unchanged.
func FuzzOptions(f *testing.F) {
	f.Add("-f\x00a.conf\x00-dx\x00--free_running=1\x00--x\x00y", "f")
	f.Add("-\x00--\x00-f", "f")
	f.Fuzz(func(t *testing.T, line, takeValue string) {
		args := strings.Split(line, "\x00")
		for key, values := range options(args, takeValue) {
			for _, value := range values {
				if key != "" && !strings.Contains(line, key) || !strings.Contains(line, value) {
					t.Errorf("%q = %q is not in %q", key, value, line)
				}
				if value != "" && len(key) == 1 && !strings.Contains(takeValue, key) && !strings.Contains(line, "--"+key) {
					t.Errorf("%q takes no value and has %q", key, value)
				}
			}
		}
	})
}

func TestOptions(t *testing.T) {
	got := options([]string{"-F", "1", "-fa.conf", "-dxc", "eth0", "-c", "eth1", "--free_running", "1", "--sync=", "left", "-l"}, "Ffcl")
	want := map[string][]string{
		"F": {"1"}, "f": {"a.conf"}, "d": {""}, "x": {""}, "c": {"eth0", "eth1"}, "free_running": {"1"}, "sync": {""}, "l": {""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMixedSmear(t *testing.T) {
	const chrony = "etc/chrony/chrony.conf"
	for _, test := range []struct {
		name  string
		files map[string]string
		state State
		says  []string
	}{
		{
			"Google with the pool",
			map[string]string{chrony: "pool 2.debian.pool.ntp.org iburst\nServer Time.Google.com. iburst # oops\n"},
			Warning,
			[]string{"/etc/chrony/chrony.conf mixes", "Time.Google.com. smears over 24 h; 2.debian.pool.ntp.org is not known to smear"},
		},
		{"two that smear apart", map[string]string{chrony: "server time1.google.com\nserver time4.facebook.com\n"}, Warning, []string{"over 24 h", "over 17 h"}},
		{"in another file of it", map[string]string{"etc/chrony/sources.d/aws.sources": "server 169.254.169.123 prefer\n"}, Warning, []string{"aws.sources"}},
		{"all of one kind", map[string]string{chrony: "server time1.google.com\nserver 169.254.169.123\nserver metadata.google.internal\n"}, OK, nil},
		{"none smears", nil, OK, nil},
		{"a comment", map[string]string{chrony: "server a\n! server time.google.com\n% server time.google.com\n#server time.google.com\n"}, OK, nil},
		{
			"a daemon that does not run",
			map[string]string{"etc/ntp.conf": "server -4 time.google.com\npeer b\n"},
			Note,
			[]string{"/etc/ntp.conf mixes", "not running here"},
		},
		{
			"timesyncd",
			map[string]string{"etc/systemd/timesyncd.conf": "[Time]\nNTP=time.google.com 0.pool.ntp.org\nFallbackNTP=x\n"},
			Note,
			[]string{"0.pool.ntp.org is not known"},
		},
		{
			"the file it was given", merge(daemons("chronyd -f /srv/c.conf"), map[string]string{"srv/c.conf": "server time.google.com\nserver b\n"}), Warning,
			[]string{"/srv/c.conf"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Examine(patient{files: test.files}.host())
			wellFormed(t, d)
			saysOf(t, d, "leap smear", test.state, test.says...)
		})
	}
}

func merge(a, b map[string]string) map[string]string {
	for k, v := range b {
		a[k] = v
	}
	return a
}

// FuzzServers: every server is a word of a line that asks for it, none of a comment.
func FuzzServers(f *testing.F) {
	f.Add("server a iburst\n#server b\npool -4 c\nNTP=d e\n")
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Fields(text)
		for _, server := range serverLines(text) {
			if server == "" || strings.HasPrefix(server, "-") || strings.Contains(server, "#") ||
				!slices.ContainsFunc(words, func(w string) bool { return w == server || strings.HasPrefix(w, server+"#") }) {
				t.Errorf("server %q of %q", server, text)
			}
		}
		for _, server := range timesyncdServers(text) {
			if server == "" || !strings.Contains(text, server) || !strings.Contains(text, "NTP") {
				t.Errorf("server %q of %q", server, text)
			}
		}
	})
}

// FuzzQuota: a limit is positive, and a group that was never stopped did not stand still
// for less than nothing.
func FuzzQuota(f *testing.F) {
	f.Add("60000 100000\n", "nr_periods 100\nnr_throttled 12\nthrottled_usec 3400000\n")
	f.Add("max 100000\n", "")
	f.Add("9223372036854775807 1\n", "throttled_usec 9223372036854775807\nnr_throttled -1\n")
	f.Fuzz(func(t *testing.T, limit, stat string) {
		v := &Visit{unread: map[string]int{}, Host: patient{files: map[string]string{
			"sys/fs/cgroup/user.slice/cpu.max": limit + "\n", "sys/fs/cgroup/user.slice/cpu.stat": stat + "\n",
		}}.host()}
		q, ok := v.tightestQuota()
		if ok != (q.time > 0) || ok && (q.period <= 0 || !(q.cpus() > 0)) || q.stopped < 0 || q.throttled < 0 {
			t.Errorf("limit %q, stat %q: %+v, %t", limit, stat, q, ok)
		}
		if ok && strings.HasPrefix(strings.TrimSpace(limit), "max") {
			t.Errorf("%q is a limit", limit)
		}
	})
}

// TestInterfacesGoAway: one that is gone by the time it is asked is passed over.
func TestInterfacesGoAway(t *testing.T) {
	h := patient{}.host()
	h.Inspect = func(string) (nic.Abilities, error) { return nic.Abilities{}, errGone }
	d := Examine(h)
	wellFormed(t, d)
	if slices.ContainsFunc(d.Findings, func(f Finding) bool { return strings.HasPrefix(f.Subject, "nic") }) {
		t.Errorf("%+v", d.Findings)
	}
}

type gone struct{}

func (gone) Error() string { return "no such device" }

var errGone error = gone{}
