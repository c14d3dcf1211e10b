package probes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/probes/nic"
)

// openPHC opens the PHC of a device or of an interface, to read only, and finds a way
// to read it.
func openPHC(target, way string, samples int) (*phcClock, error) {
	path := target
	if !strings.Contains(target, "/") {
		abilities, err := nic.Inspect(target)
		if err != nil {
			return nil, err
		}
		device, ok := abilities.Device()
		if !ok {
			return nil, fmt.Errorf("%s: has no hardware clock (tickmark doctor says what stamps there are)", target)
		}
		path = device
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%s: %w: the device belongs to root until a udev rule gives it to a group "+
			"(SUBSYSTEM==\"ptp\", GROUP=\"clock\", MODE=\"0640\"); setcap does not help, and a container must be given the device", path, fs.ErrPermission)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: no such device (tickmark doctor lists the hardware clocks)", path)
	case err != nil:
		return nil, err
	}
	// udev gives some a second name, such as /dev/ptp_ena.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	c := &phcClock{path: path, device: f, caps: capsOf(f.Fd())}
	class := filepath.Join("/sys/class/ptp", filepath.Base(path))
	c.name = firstLine(filepath.Join(class, "clock_name"))
	c.interfaces = interfacesOf(class)
	if err := c.choose(phcWays(), way, samples); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// capsOf says what a PHC can do, or "" if that is not told.
func capsOf(fd uintptr) string {
	c, err := unix.IoctlPtpClockGetcaps(int(fd))
	if err != nil {
		return ""
	}
	return inWords(c)
}

func inWords(c *unix.PtpClockCaps) string {
	return fmt.Sprintf("max-adj=%dppb pins=%d external-stamps=%d periodic-outputs=%d alarms=%d pps=%t cross-stamps=%t adjust-phase=%t",
		c.Max_adj, c.N_pins, c.N_ext_ts, c.N_per_out, c.N_alarm, c.Pps != 0, c.Cross_timestamping != 0, c.Adjust_phase != 0)
}

// interfacesOf are those whose device a clock sits on.
func interfacesOf(class string) []string {
	all, err := filepath.Glob(filepath.Join(class, "device/net/*"))
	if err != nil {
		return nil
	}
	for i := range all {
		all[i] = filepath.Base(all[i])
	}
	return all
}

// phcWays are the ways the kernel knows (linux/ptp_clock.h), the best first: one where
// the hardware latches both clocks at once, one where the driver reads the system
// clock next to the register, and one where the kernel reads it around the driver.
func phcWays() []phcWay {
	return []phcWay{{"precise", readPrecise}, {"extended", readExtended}, {"basic", readBasic}}
}

func readPrecise(fd uintptr, _ int) ([]crossStamp, error) {
	p, err := unix.IoctlPtpSysOffsetPrecise(int(fd))
	if err != nil {
		return nil, err
	}
	at := nanos(p.Realtime)
	return []crossStamp{{at, nanos(p.Device), at}}, nil
}

// readExtended asks against CLOCK_REALTIME, which is the clock zero of the request: an
// older kernel, which knows no other, finds the field unused as it must be.
func readExtended(fd uintptr, samples int) ([]crossStamp, error) {
	p, err := unix.IoctlPtpSysOffsetExtended(int(fd), uint(samples))
	if err != nil {
		return nil, err
	}
	if p.Clockid != unix.CLOCK_REALTIME {
		return nil, fmt.Errorf("read against clock %d, not CLOCK_REALTIME", p.Clockid)
	}
	all := make([]crossStamp, min(int(p.Samples), len(p.Ts)))
	for i := range all {
		all[i] = crossStamp{nanos(p.Ts[i][0]), nanos(p.Ts[i][1]), nanos(p.Ts[i][2])}
	}
	return all, nil
}

// readBasic gets the system clock and the PHC in turn, the system clock last.
func readBasic(fd uintptr, samples int) ([]crossStamp, error) {
	p := unix.PtpSysOffset{Samples: uint32(samples)}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, unix.PTP_SYS_OFFSET, uintptr(unsafe.Pointer(&p))); errno != 0 {
		return nil, errno
	}
	all := make([]crossStamp, min(int(p.Samples), (len(p.Ts)-1)/2))
	for i := range all {
		all[i] = crossStamp{nanos(p.Ts[2*i]), nanos(p.Ts[2*i+1]), nanos(p.Ts[2*i+2])}
	}
	return all, nil
}

func nanos(t unix.PtpClockTime) int64 { return t.Sec*1e9 + int64(t.Nsec) }
