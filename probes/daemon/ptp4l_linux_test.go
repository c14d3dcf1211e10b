package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// A master's stamps that are all 250 µs late make its clock one that is ahead of ours.
const masterAhead = 250 * time.Microsecond

const lateStamps = "egressLatency 250000\ningressLatency -250000"

// Two ptp4l, neither of which steers a clock, and each word of both is pmc's.
func TestPtp4lInTheLab(t *testing.T) {
	lab := netlab.New(t)
	master := netlab.PTP4L(t, lab.Server, "priority1 10\nlogAnnounceInterval -1", lateStamps)
	slave := netlab.PTP4L(t, lab.Client, "slaveOnly 1\nlogAnnounceInterval -1", "")
	m, err := newPtp4l(master.Socket)
	check(t, err)
	defer m.Close()
	s, err := newPtp4l(slave.Socket)
	check(t, err)
	defer s.Close()
	slave.Await(t, "the slave to hear its master", func() bool {
		r, err := ask(t, s)
		delay, _ := r.Claims[0].Fact("mean_path_delay")
		return err == nil && delay != "" && delay != "0"
	})
	checkTheta(t, s)
	r, err := ask(t, m)
	check(t, err)
	if c := r.Claims[0]; c.Status != datasets.FreeRunning {
		t.Errorf("the master is %s", c.Status)
	}
	checkCell(t, "the master's offset", r.Claims[0].Offset, nil)
	// No two values are the same by default now; and stamps of UTC under a flag that says
	// TAI are a mistake that is made.
	netlab.PMC(t, lab.Server, master.Socket, "SET GRANDMASTER_SETTINGS_NP clockClass 7 clockAccuracy 0x21 offsetScaledLogVariance 0x4e5d "+
		"currentUtcOffset 36 leap61 1 leap59 0 currentUtcOffsetValid 1 ptpTimescale 1 timeTraceable 0 frequencyTraceable 1 timeSource 0x20")
	slave.Await(t, "the slave to hear of the new settings", func() bool {
		r, err := ask(t, s)
		class, _ := r.Claims[0].Fact("gm_clock_class")
		return err == nil && class == "7" && r.Claims[0].Why != ""
	})
	for _, side := range []struct {
		name   string
		n      netlab.Namespace
		socket string
		d      Daemon
	}{{"master", lab.Server, master.Socket, m}, {"slave", lab.Client, slave.Socket, s}} {
		var differ []string
		for range 50 { // a Sync comes every 62 ms
			if differ = ptp4lDiffers(t, side.n, side.socket, side.d); len(differ) == 0 {
				break
			}
		}
		if len(differ) > 0 {
			t.Errorf("pmc says otherwise of the %s:\n%s", side.name, strings.Join(differ, "\n"))
		}
	}
	r, err = ask(t, s)
	check(t, err)
	if c := r.Claims[0]; c.Why != "the offset looks like TAI against UTC" {
		t.Errorf("why %q: offset %v", c.Why, c.Offset)
	}
	checkCell(t, "leap", r.Claims[0].Leap, 1)
}

// checkTheta takes the median of many offsets: one is off by whatever the scheduler did.
func checkTheta(t *testing.T, slave Daemon) {
	t.Helper()
	var all []time.Duration
	for len(all) < 15 {
		r, err := ask(t, slave)
		check(t, err)
		c := r.Claims[0]
		if v, ok := c.Offset.Value(); ok && (len(all) == 0 || v != all[len(all)-1]) {
			all = append(all, v)
		}
		if age, ok := c.Age.Value(); !ok || age > patience {
			t.Errorf("age %v, %v", age, ok)
		}
		if c.Status != datasets.Unsynchronised { // it steers nothing: ptp4l stays uncalibrated
			t.Errorf("the slave is %s", c.Status)
		}
	}
	checkNear(t, "θ of the slave", datasets.Some(median(all)), masterAhead, 20*time.Microsecond)
}

func ptp4lDiffers(t *testing.T, n netlab.Namespace, socket string, d Daemon) []string {
	t.Helper()
	before, err := ask(t, d)
	check(t, err)
	printed := pmcValues(netlab.PMC(t, n, socket, "GET DEFAULT_DATA_SET", "GET CURRENT_DATA_SET", "GET PARENT_DATA_SET",
		"GET TIME_PROPERTIES_DATA_SET", "GET TIME_STATUS_NP", "GET PORT_DATA_SET", "GET PORT_STATS_NP", "GET PORT_PROPERTIES_NP"))
	after, err := ask(t, d)
	check(t, err)
	var differ []string
	for _, c := range before.Claims {
		again := named(after, c.Source)
		for key, a := range c.AllFacts() {
			b, _ := again.Fact(key)
			want, ok := printed[key]
			if !ok || !(sameValue(a, want) || sameValue(b, want) || agrees(a, b, want)) {
				differ = append(differ, c.Source+": "+key+": "+a+" and then "+b+", pmc says "+want)
			}
		}
	}
	return differ
}

// In whatever domain and with whatever transportSpecific it runs, it is found; pmc has to
// be told.
func TestPtp4lOfAnyDomainInTheLab(t *testing.T) {
	n := netlab.New(t).Server
	folder := socketFolder(t)
	socket, conf := filepath.Join(folder, "sock"), filepath.Join(folder, "conf")
	check(t, os.WriteFile(conf, []byte("[global]\ntime_stamping software\nfree_running 1\ndomainNumber 44\ntransportSpecific 0x1\nuds_address "+
		socket+"\n["+n.Interface+"]\n"), 0o600))
	netlab.Need(t, "ptp4l")
	ended := n.Start(t, "ptp4l", "-f", conf)
	d, err := newPtp4l(socket)
	check(t, err)
	r, err := ask(t, d)
	for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); r, err = ask(t, d) {
		select {
		case <-ended:
			t.Fatal("ptp4l ended")
		case <-time.After(10 * time.Millisecond):
		}
	}
	check(t, err)
	domain, _ := r.Claims[0].Fact("domain_number")
	out, err := n.Run(t, "pmc", "-u", "-b", "0", "-d", "44", "-t", "0x1", "-s", socket, "GET DEFAULT_DATA_SET")
	check(t, err)
	if printed := pmcValues(out); domain != "44" || printed["domain_number"] != domain || len(r.Claims) != 2 {
		t.Errorf("domain %q, pmc says %q; %d claims", domain, printed["domain_number"], len(r.Claims))
	}
	check(t, d.Close())
}

// sptp against ptp4u, whose fraction of a second is the truth and whose whole seconds
// look like TAI.
func TestSptpInTheLab(t *testing.T) {
	lab := netlab.New(t)
	netlab.PTP4U(t, lab.Server, "37.001234567s")
	client := netlab.SPTP(t, lab.Client, lab.Server.Addr)
	d, err := newSptp(lab.Client.Addr.String())
	check(t, err)
	defer d.Close()
	inside(t, lab.Client, d.(*sptp))
	var all []time.Duration
	var last *Reading
	client.Await(t, "sptp to measure", func() bool {
		r, err := ask(t, d)
		if err != nil || len(r.Claims) < 2 {
			return false
		}
		if r.Claims[0].Status == datasets.Holdover { // for a moment, when an exchange is lost
			return false
		}
		last = r
		if v, ok := r.Claims[0].Offset.Value(); ok && v != 0 {
			all = append(all, v)
		}
		return len(all) >= 15
	})
	checkNear(t, "θ of sptp", datasets.Some(median(all)), 37*time.Second+ahead, 50*time.Microsecond)
	main, master := last.Claims[0], named(last, "sptp 10.77.0.1")
	if main.Status != datasets.FreeRunning && main.Status != datasets.Synchronised || master.Status != datasets.Selected {
		t.Errorf("sptp is %s, its grandmaster %s: %s", main.Status, master.Status, master.Facts)
	}
	if main.Why != "the offset looks like TAI against UTC" {
		t.Errorf("why %q", main.Why)
	}
}
