package daemon

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
	"github.com/tickmark/tickmark/probes/serve"
)

// ahead is how far the server's clock is ahead of ours, which are one and the same.
const ahead = 1234567 * time.Nanosecond

// A chronyd that may not touch the clock (-x) learns how far it is off, and claims it
// with θ's sign. Each of its words is chronyc's.
func TestChronydInTheLab(t *testing.T) {
	lab := netlab.New(t)
	netlab.NTPResponder(t, lab.Server, 1124, "-extraoffset", ahead.String())
	chrony := netlab.Chronyd(t, lab.Client, "server 10.77.0.1 port 1124 iburst minpoll 1 maxpoll 1\nserver 10.77.0.9 minpoll 4\nserver 10.77.0.3 noselect trust")
	d, err := newChronyd(chrony.Socket)
	check(t, err)
	defer d.Close()
	chrony.Await(t, "chronyd to be synchronised", func() bool {
		r, err := ask(t, d)
		n, _ := named(r, "chronyd 10.77.0.1").Fact("samples")
		return err == nil && r.Claims[0].Status == datasets.Synchronised && len(n) > 0 && n > "3"
	})
	var differ []string
	for range 5 { // a poll in between changes much
		before, err := ask(t, d)
		check(t, err)
		theirs := chronycWords(t, chrony.Socket)
		after, err := ask(t, d)
		check(t, err)
		if differ = chronydDiffers(before, after, theirs); len(differ) == 0 {
			break
		}
	}
	if len(differ) > 0 {
		t.Errorf("chronyc says otherwise:\n%s", strings.Join(differ, "\n"))
	}
	r, err := ask(t, d)
	check(t, err)
	main, source := r.Claims[0], named(r, "chronyd 10.77.0.1")
	checkNear(t, "θ of chronyd", main.Offset, ahead, 200*time.Microsecond)
	checkNear(t, "θ of its source", source.Offset, ahead, 200*time.Microsecond)
	for _, c := range []*datasets.Claim{main, source} {
		if bound, ok := c.Bound.Value(); !ok || bound < ahead || bound > ahead+50*time.Millisecond {
			t.Errorf("%s: bound %v, %v: the truth is %v", c.Source, bound, ok, ahead)
		}
	}
	if s := source.Status; s != datasets.Selected {
		t.Errorf("the source is %s", s)
	}
	if s := named(r, "chronyd 10.77.0.9").Status; s != datasets.Unreachable {
		t.Errorf("a source that never answers is %s", s)
	}
}

// chronydDiffers compares every claim. chronyc prints no error of the estimated offset.
func chronydDiffers(before, after *Reading, theirs map[string]map[string]string) []string {
	var differ []string
	for _, c := range before.Claims {
		except := []string{"=status"}
		if c.Source != "chronyd" {
			except = append(except, "est_offset_err", "=offset", "=bound") // sums of what is compared
		}
		if c.Source == "chronyd" {
			except = append(except, "=age")
		}
		for _, line := range secondOpinion(words(c), words(named(after, c.Source)), theirs[c.Source], except...) {
			differ = append(differ, c.Source+": "+line)
		}
	}
	return differ
}

func checkNear(t *testing.T, what string, got datasets.Optional[time.Duration], want, tolerance time.Duration) {
	t.Helper()
	if v, ok := got.Value(); !ok || (v-want).Abs() > tolerance {
		t.Errorf("%s: %v (there: %v), want %v to %v", what, v, ok, want, tolerance)
	}
}

// Before chronyd believes a source it says so, and its source's offset is still ours.
func TestChronydThatSelectsNothing(t *testing.T) {
	lab := netlab.New(t)
	netlab.NTPResponder(t, lab.Server, 1124, "-extraoffset", ahead.String())
	chrony := netlab.Chronyd(t, lab.Client, "server 10.77.0.1 port 1124 iburst minpoll 1 maxpoll 1 noselect")
	d, err := newChronyd(chrony.Socket)
	check(t, err)
	defer d.Close()
	var r *Reading
	chrony.Await(t, "chronyd to hear its source", func() bool {
		r, err = ask(t, d)
		c := named(r, "chronyd 10.77.0.1")
		n, _ := c.Fact("samples")
		return err == nil && n > "3" && c.Status != datasets.Unreachable
	})
	main, source := r.Claims[0], named(r, "chronyd 10.77.0.1")
	if main.Status != datasets.Unsynchronised || source.Status != datasets.Rejected {
		t.Errorf("chronyd is %s, its source %s", main.Status, source.Status)
	}
	checkCell(t, "offset of nothing", main.Offset, nil)
	checkCell(t, "bound of nothing", main.Bound, nil)
	checkNear(t, "θ of the source", source.Offset, ahead, 200*time.Microsecond)
}

func TestChronydThatFollowsItself(t *testing.T) {
	chrony := netlab.Chronyd(t, netlab.New(t).Server, "local stratum 3")
	r, err := Open(t.Context(), "chronyd@"+chrony.Socket, patience)
	check(t, err)
	defer r.Close()
	got, err := ask(t, r)
	check(t, err)
	if c := got.Claims[0]; c.Status != datasets.FreeRunning || r.Lost != "" {
		t.Errorf("%s, lost %q", c.Status, r.Lost)
	}
}

// A server that gains 100 ppm on us makes our clock one that loses: a positive frequency.
func TestChronydFrequencyFollowsTheta(t *testing.T) {
	lab := netlab.New(t)
	fault, _, err := serve.Faults().Parse("fault", "drift:ppm=100")
	check(t, err)
	var server *serve.Server
	check(t, lab.Server.Do(func() (err error) {
		server, err = serve.Start(serve.Config{NTP: "10.77.0.1:1124", Faults: []serve.Fault{fault}, Seed: 1, Stratum: 1})
		return err
	}))
	defer func() { check(t, server.Close()) }()
	chrony := netlab.Chronyd(t, lab.Client, "server 10.77.0.1 port 1124 iburst minpoll -2 maxpoll -2")
	d, err := newChronyd(chrony.Socket)
	check(t, err)
	defer d.Close()
	var ppb datasets.PPB
	chrony.Await(t, "chronyd to learn the frequency", func() bool {
		r, err := ask(t, d)
		if err != nil {
			return false
		}
		skew, ok := r.Claims[0].Skew.Value()
		ppb, _ = r.Claims[0].Frequency.Value()
		return ok && skew < 5_000 && r.Claims[0].Status == datasets.Synchronised
	})
	if ppb < 90_000 || ppb > 110_000 {
		t.Errorf("frequency %d ppb, want 100 ppm", ppb)
	}
}

// Whoever may not use chronyd's socket is told so, is served over UDP, and is told what
// that costs.
func TestChronydWithoutPermission(t *testing.T) {
	lab := netlab.New(t)
	chrony := netlab.Chronyd(t, lab.Client, "server 10.77.0.1 port 1124\nbindcmdaddress 127.0.0.1\ncmdport 11323")
	e := chronydEntry()
	var found *Found
	var refused error
	check(t, lab.Client.Do(func() (err error) { // on a thread of its own, that ends with it
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); errno != 0 {
			return errno
		}
		_, refused = e.open(t.Context(), []string{chrony.Socket}, patience)
		found, err = e.open(t.Context(), []string{chrony.Socket, "127.0.0.1:11323"}, patience)
		return err
	}))
	defer found.Close()
	if refused == nil || !strings.Contains(refused.Error(), chrony.Socket+": permission denied") {
		t.Errorf("refused with %v", refused)
	}
	if found.Place != "127.0.0.1:11323" || !strings.Contains(found.Lost, "neither ntpdata nor selectdata") ||
		!strings.Contains(found.Lost, "permission denied") || strings.Contains(found.Lost, "\n") {
		t.Errorf("found at %s, lost %q", found.Place, found.Lost)
	}
}
