package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// timesyncAnswer is busctl's JSON of what org.freedesktop.timesync1(5) documents, with
// the values of a real "timedatectl timesync-status": server 216.239.35.8, offset
// −5.224 ms, delay 65.884 ms, root distance 91 µs, jitter 5.386 ms, +27.071 ppm.
func timesyncAnswer(destination time.Time) string {
	t4 := destination.UnixMicro()
	t1 := t4 - 65_884 - 100 // 100 µs in the server
	t2 := t1 + 65_884/2 - 5_224
	return fmt.Sprintf(`{"type":"a{sv}","data":[{
	"ServerName":{"type":"s","data":"time.google.com"},
	"ServerAddress":{"type":"(iay)","data":[2,[216,239,35,8]]},
	"RootDistanceMaxUSec":{"type":"t","data":5000000},
	"PollIntervalUSec":{"type":"t","data":512000000},
	"NTPMessage":{"type":"(uuuuittayttttbtt)","data":[0,4,4,1,-20,0,91,[71,79,79,71],%d,%d,%d,%d,false,5,5386]},
	"Frequency":{"type":"x","data":1774125}}]}`, t1, t2, t2+100, t4)
}

// fakeBus puts a busctl of the test's own in front of the real one.
func fakeBus(t *testing.T, script string) {
	t.Helper()
	folder := t.TempDir()
	check(t, os.WriteFile(filepath.Join(folder, "busctl"), []byte("#!/bin/sh\n"+script), 0o700))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func synchronizedFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "synchronized")
	check(t, os.WriteFile(path, nil, 0o600))
	return path
}

func TestTimesyncdOverTheBus(t *testing.T) {
	answer := timesyncAnswer(time.Now().Add(-time.Second))
	fakeBus(t, `case "$*" in *--auto-start=no*GetAll*org.freedesktop.timesync1.Manager*) cat <<'END'
`+answer+"\nEND\n;; *) echo \"asked $*\" >&2; exit 1;; esac\n")
	d := &timesyncd{file: synchronizedFile(t)}
	r, err := ask(t, d)
	check(t, err)
	c := r.Claims[0]
	if len(r.Claims) != 1 || c.Source != "timesyncd" || c.Status != datasets.Synchronised || c.Reference != "216.239.35.8" {
		t.Errorf("%+v", c)
	}
	checkCell(t, "offset", c.Offset, -5224*time.Microsecond)
	checkCell(t, "root dispersion", c.RootDispersion, 91*time.Microsecond)
	checkCell(t, "frequency", c.Frequency, datasets.PPB(27_071))
	checkCell(t, "stratum", c.Stratum, 1)
	checkCell(t, "bound", c.Bound, nil)
	if age, ok := c.Age.Value(); !ok || age < time.Second || age > patience {
		t.Errorf("age %v, %v", age, ok)
	}
	checkFacts(t, c, map[string]string{"server": "time.google.com", "precision": "-20", "reference": "474F4F47", "jitter_us": "5386", "packets": "5"})

	d.file += "-not" // it has heard a server, and not set the clock yet
	r, err = ask(t, d)
	check(t, err)
	if r.Claims[0].Status != datasets.Unsynchronised {
		t.Errorf("status %s without its file", r.Claims[0].Status)
	}
}

func TestTimesyncdStatuses(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name, old, with string
		at              time.Time
		want            datasets.ClaimStatus
		why             string
	}{
		{"as it is", "", "", now, datasets.Synchronised, ""},
		{"leap 3", "[0,4,4,1", "[3,4,4,1", now, datasets.Unsynchronised, ""},
		{"no packet yet", "false,5,", "false,0,", now, datasets.Unsynchronised, ""},
		{"9 polls ago", "", "", now.Add(-9 * 512 * time.Second), datasets.Stale, "no update for 8 polls of its source"},
		{"a spike", "false,5,", "true,5,", now, datasets.Synchronised, "timesyncd itself ignored the packet as a spike"},
	} {
		s, err := decodeTimesync([]byte(strings.Replace(timesyncAnswer(c.at), c.old, c.with, 1)))
		check(t, err)
		got := datasets.Claim{Source: "timesyncd", Status: datasets.Unsynchronised, Wall: datasets.StampTime(now, datasets.Local, datasets.User)}
		s.fill(&got)
		if got.Status != c.want || got.Why != c.why {
			t.Errorf("%s: %s, %q: want %s, %q", c.name, got.Status, got.Why, c.want, c.why)
		}
	}
}

// Without the bus its file still tells when it last set the clock, and what is lost is
// said.
func TestTimesyncdByItsFileAlone(t *testing.T) {
	fakeBus(t, "echo 'Failed to connect to bus: No such file or directory' >&2; exit 1\n")
	d := &timesyncd{file: synchronizedFile(t)}
	check(t, os.Chtimes(d.file, time.Time{}, time.Now().Add(-time.Minute)))
	r, err := ask(t, d)
	check(t, err)
	c := r.Claims[0]
	if age, _ := c.Age.Value(); c.Status != datasets.Synchronised || age < time.Minute || age > time.Minute+patience {
		t.Errorf("%s, age %v", c.Status, age)
	}
	want := "timesyncd told no more than when it last corrected the clock: busctl: failed to connect to bus: No such file or directory"
	if r.lost != want {
		t.Errorf("lost %q", r.lost)
	}
	check(t, os.Remove(d.file))
	if _, err := ask(t, d); err == nil || !strings.Contains(err.Error(), "failed to connect to bus") || !strings.Contains(err.Error(), "nor has it left "+d.file) {
		t.Errorf("got %v", err)
	}
}

func TestTimesyncdBusThatIsSick(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"silent", "exec sleep 60\n", "no answer in time"},
		{"garbage", "echo '{'\n", "not the JSON of an answer"},
		{"another answer", `echo '{"type":"a{sv}","data":[{"ServerName":{"type":"s","data":"x"}}]}'` + "\n", "an answer without NTPMessage"},
		{"a short message", `echo '{"data":[{"NTPMessage":{"data":[1,2]}}]}'` + "\n", "2 fields, want 15"},
	} {
		fakeBus(t, c.script)
		wait := patience
		if c.name == "silent" {
			wait = 50 * time.Millisecond
		}
		r, err := askWithin(t, &timesyncd{file: synchronizedFile(t)}, wait)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Claims) > 0 {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzTimesync: what is read as timesyncd's makes a claim that a trace can hold.
func FuzzTimesync(f *testing.F) {
	f.Add([]byte(timesyncAnswer(time.Unix(1796071207, 0))))
	f.Add([]byte(`{"data":[{"NTPMessage":{"data":[0,4,4,1,-20,0,18446744073709551615,[],18446744073709551615,0,0,1,false,5,5386]},"PollIntervalUSec":{"data":18446744073709551615}}]}`))
	f.Fuzz(func(t *testing.T, output []byte) {
		s, err := decodeTimesync(output)
		if err != nil {
			return
		}
		c := datasets.Claim{Source: "timesyncd", Status: datasets.Unsynchronised, Wall: datasets.NewStamp(1796071208e9, datasets.Local, datasets.User)}
		s.fill(&c)
		checkClaim(t, &c)
		if _, ok := c.Offset.Value(); ok && s.message.packets == 0 {
			t.Error("an offset of no packet")
		}
	})
}
