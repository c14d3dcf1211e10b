package probes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/datasets"
)

// What is no PHC, or cannot be opened, is refused in one line that says what it is.
func TestWhatIsNoPHC(t *testing.T) {
	dir := t.TempDir()
	for target, want := range map[string]string{
		"/dev/null":                  "/dev/null: cannot be read: precise: inappropriate ioctl for device; extended: inappropriate ioctl for device; basic: inappropriate ioctl for device",
		dir:                          "cannot be read: precise: inappropriate ioctl for device",
		filepath.Join(dir, "none"):   "none: no such device",
		"lo":                         "lo: has no hardware clock",
		"no-such-iface":              "no-such-iface",
		filepath.Join(dir, "a", "b"): "b: no such device",
	} {
		_, err := openPHC(target, "auto", 5)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
	if _, err := openPHC("/dev/null", "basic", 5); err == nil || strings.Contains(err.Error(), "precise") {
		t.Errorf("%v", err)
	}
}

// The kernel's own word reaches whoever wants to tell the cases apart.
func TestWaysReturnTheKernelsError(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, w := range phcWays() {
		if _, err := w.read(f.Fd(), 1); !errors.Is(err, unix.ENOTTY) {
			t.Errorf("%s: %v", w.name, err)
		}
	}
	if caps := capsOf(f.Fd()); caps != "" {
		t.Errorf("caps %q of /dev/null", caps)
	}
}

// Who may not open the device is told how to get it, and what does not help.
func TestPHCWithoutRights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ptp0")
	if err := os.WriteFile(path, nil, 0); err != nil {
		t.Fatal(err)
	}
	// Root may open anything, but not while its file system user is another: that of
	// this thread alone, which ends with the goroutine since it is not unlocked.
	refused := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			if err := unix.Setfsuid(65534); err != nil {
				refused <- err
				return
			}
		}
		_, err := openPHC(path, "auto", 5)
		refused <- err
	}()
	err := <-refused
	if !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{path + ": permission denied", "udev rule", "setcap does not help"} {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: want %s", err, want)
		}
	}
}

// An attempt that fails leaves nothing open.
func TestNoPHCIsLeftOpen(t *testing.T) {
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	try := func() {
		if _, err := openPHC("/dev/null", "auto", 5); err == nil {
			t.Fatal("/dev/null is a PHC")
		}
	}
	try() // what the runtime opens for the first file stays
	before := open()
	for range 20 {
		try()
	}
	if after := open(); after >= before+20 {
		t.Errorf("%d files open, %d before", after, before)
	}
}

func TestCapsInWords(t *testing.T) {
	c := unix.PtpClockCaps{Max_adj: 62499999, N_pins: 4, N_ext_ts: 2, N_per_out: 3, N_alarm: 1, Pps: 1}
	const want = "max-adj=62499999ppb pins=4 external-stamps=2 periodic-outputs=3 alarms=1 pps=true cross-stamps=false adjust-phase=false"
	if got := inWords(&c); got != want {
		t.Errorf("%s", got)
	}
}

// The header says which clocks were read and how, and nothing that is not known.
func TestPHCFacts(t *testing.T) {
	way, basic := steady(0, 0, 200*time.Nanosecond), steady(0, 0, 200*time.Nanosecond)
	basic.name = "basic"
	r := readerOf(&way, nil)
	header := func() string {
		h := &datasets.Header{}
		setFacts(h, r.facts()...)
		var lines []string
		for _, f := range h.Fields() {
			lines = append(lines, f.Key+": "+f.Value)
		}
		return strings.Join(lines, "\n")
	}
	if got, want := header(), "local-clock: CLOCK_REALTIME\nphc: /dev/ptp0\nway: extended\nstamps: t1=user t2,t3=hardware t4=user\nreadings-a-sample: 5"; got != want {
		t.Errorf("%s", got)
	}
	r = readerOf(&way, &basic)
	r.clock.name, r.clock.interfaces, r.clock.caps, r.clock.refused = "igb", []string{"eth0", "eth1"}, "pins=0", "precise: operation not supported"
	const want = `local-clock: /dev/ptp1
local-clock-way: basic
phc: /dev/ptp0
phc-name: igb
phc-interfaces: eth0,eth1
phc-caps: pins=0
way: extended
ways-refused: precise: operation not supported
stamps: t1=hardware t2,t3=hardware t4=hardware
readings-a-sample: 5`
	if got := header(); got != want {
		t.Errorf("%s", got)
	}
}
