package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

func TestTargets(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"", `target "": want chronyd, ntpd`},
		{"chrony", `target "chrony": want chronyd, ntpd`},
		{"chronyd@", `names no place behind the @`},
		{"chronyd@a b", `want a socket's absolute path or HOST:PORT`},
		{"chronyd@run/chronyd.sock", `want a socket's absolute path or HOST:PORT`},
		{"chronyd@127.0.0.1:0", `want HOST:PORT`},
		{"chronyd@127.0.0.1:99999", `want HOST:PORT`},
		{"chronyd@::1::", `want a socket's absolute path or HOST:PORT`},
		{"ntpd@/run/ntpd", `want HOST or HOST:PORT`},
		{"sptp@/run/sptp", `want HOST or HOST:PORT`},
		{"ptp4l@127.0.0.1", `want the absolute path of a socket`},
		{"clockbound@shm0", `want the absolute path of its shared memory`},
		{"kernel@here", `the kernel has no address`},
		{"timesyncd@here", `timesyncd has no address`},
	} {
		_, err := Open(context.Background(), c.target, time.Second)
		usage := &spec.UsageError{}
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", c.target, err, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for _, c := range []struct{ place, want string }{
		{"127.0.0.1", "127.0.0.1:323"},
		{"127.0.0.1:11323", "127.0.0.1:11323"},
		{"::1", "[::1]:323"},
		{"[::1]", "[::1]:323"},
		{"[::1]:11323", "[::1]:11323"},
		{"localhost", "localhost:323"},
	} {
		if got, err := withPort(c.place, "323"); got != c.want || err != nil {
			t.Errorf("%q: %q, %v: want %q", c.place, got, err, c.want)
		}
	}
}

// Every kind of daemon has what the table promises, can be written with each of its own
// places, and says what to do when it is nowhere.
func TestEveryDaemonKeepsTheContract(t *testing.T) {
	names := map[string]bool{}
	for _, e := range Daemons() {
		if names[e.Name] || e.Summary == "" || e.Hint == "" || len(e.Places) == 0 {
			t.Errorf("%+v", e)
		}
		names[e.Name] = true
		for _, place := range e.Places {
			d, err := e.at(place)
			if err != nil {
				t.Errorf("%s: its own place %q: %v", e.Name, place, err)
				continue
			}
			check(t, d.Close()) // unasked
		}
	}
}

func TestNowhereToBeFoundSaysWhatToDo(t *testing.T) {
	gone := filepath.Join(socketFolder(t), "gone")
	for _, c := range []struct{ target, want string }{
		{"chronyd@" + gone, "chronyd: " + gone + ": there is no such socket (is chronyd running?"},
		{"ptp4l@" + gone, "ptp4l: " + gone + ": there is no such socket (is ptp4l running?"},
		{"clockbound@" + gone, "clockbound: " + gone + ": there is no such file (is clockbound running?"},
		{"chronyd@127.0.0.1:1", "chronyd: 127.0.0.1:1: nothing listens there (is chronyd running?"},
		{"ntpd@127.0.0.1:1", "ntpd: 127.0.0.1:1: nothing listens there (is ntpd running, and does no restrict line"},
		{"chronyd@/" + strings.Repeat("long/", 30), "there is no such socket"},
	} {
		_, err := Open(context.Background(), c.target, patience)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	f := fakeUDP(t, silent)
	_, err := Open(context.Background(), "ntpd@"+f.place, 20*time.Millisecond)
	if err == nil || !strings.HasPrefix(err.Error(), "ntpd: "+f.place+": no answer in time (is ntpd running") {
		t.Errorf("%v", err)
	}
}

// A place that is not open to us is named, and the next one is asked.
func TestPermissionIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("needs a user other than root, whom no permission keeps out")
	}
	folder := socketFolder(t)
	check(t, os.Mkdir(filepath.Join(folder, "closed"), 0))
	_, err := Open(context.Background(), "chronyd@"+filepath.Join(folder, "closed", "chronyd.sock"), patience)
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("got %v", err)
	}
}

// The same by what an error is, which root can see too.
func TestLostSaysWhyAndWhat(t *testing.T) {
	r := reading()
	r.lost = "chronyd over UDP tells no ntpdata"
	denied := plain(&os.PathError{Op: "open", Path: "x", Err: os.ErrPermission})
	absent := plain(&os.PathError{Op: "open", Path: "x", Err: os.ErrNotExist})
	if got := lost(r, []error{absent}); got != r.lost {
		t.Errorf("got %q", got)
	}
	if got := lost(r, []error{absent, denied}); !strings.HasPrefix(got, r.lost+"; ") || !strings.Contains(got, "permission denied") {
		t.Errorf("got %q", got)
	}
	if got := lost(reading(), nil); got != "" {
		t.Errorf("got %q", got)
	}
}
