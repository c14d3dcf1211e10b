package doctor

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickmark/tickmark/probes/nic"
)

// ThisHost returns the host this program runs on.
func ThisHost() *Host {
	h := &Host{
		FS: os.DirFS("/"), Inspect: nic.Inspect, NICConfig: nic.ReadConfig,
		Discipline: readDiscipline, Suspended: readSuspended,
	}
	if path, err := os.Executable(); err == nil {
		h.Executable = path
	}
	return h
}

// readDiscipline calls adjtimex with no mode set, which only reads.
func readDiscipline() (Discipline, error) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return Discipline{}, os.NewSyscallError("adjtimex", err)
	}
	return Discipline{
		Unsynchronised: t.Status&unix.STA_UNSYNC != 0,
		LeapInsert:     t.Status&unix.STA_INS != 0,
		LeapDelete:     t.Status&unix.STA_DEL != 0,
		MaxError:       time.Duration(t.Maxerror) * time.Microsecond,
		EstimatedError: time.Duration(t.Esterror) * time.Microsecond,
		TAI:            time.Duration(t.Tai) * time.Second,
		RatePPM:        float64(t.Freq) / (1 << 16), // adjtimex(2): ppm with a 16-bit fraction
	}, nil
}

func readSuspended() (time.Duration, error) {
	var monotonic, boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(boot.Nano() - monotonic.Nano()), nil
}
