package daemon

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
)

// NTPsec's ntpd, which cannot set the clock here, learns how far it is off, and claims it
// with θ's sign. Each of its words is ntpq's.
func TestNtpdInTheLab(t *testing.T) {
	lab := netlab.New(t)
	netlab.NTPResponder(t, lab.Server, 123, "-extraoffset", ahead.String())
	server := netlab.Ntpd(t, lab.Client, "server 10.77.0.1 iburst minpoll 3 maxpoll 3\nserver 10.77.0.9 minpoll 3\nunrestrict default noquery")
	d, err := newNtpd(lab.Client.Addr.String())
	check(t, err)
	defer d.Close()
	server.Await(t, "ntpd to follow its server", func() bool {
		r, err := asked(t, lab.Client, d)
		if err == nil && r.Claims[0].Reference != "10.77.0.1" && r.Claims[0].Status == datasets.Synchronised {
			t.Errorf("synchronised to %q: %s", r.Claims[0].Reference, r.Claims[0].Facts)
		}
		return err == nil && r.Claims[0].Status == datasets.Synchronised
	})
	var differ []string
	for range 5 { // a poll in between changes much
		before, err := asked(t, lab.Client, d)
		check(t, err)
		theirs := map[string]map[string]string{"ntpd": ntpq(t, lab.Client, "0")}
		for _, id := range ntpqAssociations(t, lab.Client) {
			v := ntpq(t, lab.Client, id)
			theirs["ntpd "+v["srcadr"]] = v
		}
		after, err := asked(t, lab.Client, d)
		check(t, err)
		if differ = ntpdDiffers(before, after, theirs); len(differ) == 0 {
			break
		}
	}
	if len(differ) > 0 {
		t.Errorf("ntpq says otherwise:\n%s", strings.Join(differ, "\n"))
	}
	r, err := asked(t, lab.Client, d)
	check(t, err)
	for _, source := range []string{"ntpd", "ntpd 10.77.0.1"} {
		c := named(r, source)
		checkNear(t, "θ of "+source, c.Offset, ahead, 500*time.Microsecond)
		if bound, ok := c.Bound.Value(); !ok || bound < ahead {
			t.Errorf("%s: bound %v, %v: the truth is %v", source, bound, ok, ahead)
		}
	}
	if s := named(r, "ntpd 10.77.0.1").Status; s != datasets.Selected {
		t.Errorf("the server is %s", s)
	}
	if s := named(r, "ntpd 10.77.0.9").Status; s != datasets.Unreachable {
		t.Errorf("a server that never answers is %s", s)
	}
	if s := named(r, "ntpd 127.127.1.0").Status; s == datasets.Selected {
		t.Errorf("the local clock is %s", s)
	}
}

// ntpdDiffers compares every claim's facts, which are ntpd's own variables; the columns
// are those in other units.
func ntpdDiffers(before, after *Reading, theirs map[string]map[string]string) []string {
	var differ []string
	for _, c := range before.Claims {
		all, again := words(c), words(named(after, c.Source))
		want := theirs[c.Source]
		for _, x := range []struct {
			column, variable string
			scale            time.Duration
		}{{"=offset", "offset", time.Millisecond}, {"=root_delay", "rootdelay", time.Millisecond}, {"=root_dispersion", "rootdisp", time.Millisecond}} {
			if v, ok := all[x.column]; ok && !agrees(scaled(v), scaled(again[x.column]), want[x.variable]) {
				differ = append(differ, c.Source+": "+x.column+" "+v+", ntpq says "+want[x.variable])
			}
		}
		for _, x := range [][2]string{{"=stratum", "stratum"}, {"=reference", "refid"}, {"=frequency", "frequency"}} {
			if v, ok := all[x[0]]; ok && !agrees(v, again[x[0]], want[x[1]]) {
				differ = append(differ, c.Source+": "+x[0]+" "+v+", ntpq says "+want[x[1]])
			}
		}
		except := []string{"=status", "=bound", "=age", "=offset", "=root_delay", "=root_dispersion", "=stratum", "=reference", "=frequency", "=leap"}
		except = append(except, "select", "clock") // a word for the status, and the time of asking
		for _, line := range secondOpinion(all, again, want, except...) {
			differ = append(differ, c.Source+": "+line)
		}
	}
	return differ
}

// scaled turns seconds into the milliseconds that ntpq prints.
func scaled(text string) string {
	d, err := time.ParseDuration(text + "s")
	if err != nil {
		return text
	}
	return strconv.FormatFloat(d.Seconds()*1e3, 'f', 6, 64)
}
