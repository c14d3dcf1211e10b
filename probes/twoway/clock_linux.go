package twoway

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// readDiscipline only reads: no mode is set (adjtimex(2)).
func readDiscipline() (discipline, error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return discipline{}, os.NewSyscallError("adjtimex", err)
	}
	return discipline{
		synchronised: state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0,
		off:          time.Duration(t.Maxerror) * time.Microsecond,
		tai:          time.Duration(t.Tai) * time.Second,
	}, nil
}
