package doctor

import (
	"fmt"
	"time"

	"github.com/tickmark/tickmark/analysis/unit"
)

// Discipline is what the kernel was told of the system clock by whoever steers it
// (adjtimex(2), read only).
type Discipline struct {
	Unsynchronised bool          // STA_UNSYNC
	LeapInsert     bool          // STA_INS: a second is added at the end of this UTC day
	LeapDelete     bool          // STA_DEL
	MaxError       time.Duration // grows by 500 µs a second until somebody sets it anew
	EstimatedError time.Duration
	TAI            time.Duration // TAI − UTC; 0 is not set
	RatePPM        float64       // the correction in force; the kernel takes up to ±500
}

// The kernel's own limits (include/linux/timex.h: MAXFREQ, NTP_PHASE_LIMIT).
const (
	maxErrorRate    = 500e-6
	maxErrorCeiling = 16 * time.Second
	maxRatePPM      = 500
)

// The difference TAI − UTC since 2017-01-01 (IERS Bulletin C 52). Another value is
// told, not judged: a leap second may come.
const taiSince2017 = 37 * time.Second

// misread is what some kernels in KVM guests report for an error or offset that they
// do not have: 2³² ns.
const misread = (1 << 32) * time.Nanosecond

// checkKernelClock looks at what the kernel knows of its clock.
func checkKernelClock(v *Visit) []Finding {
	const subject = "kernel clock"
	d, err := v.Discipline()
	if err != nil {
		return []Finding{{
			subject, Note, "the kernel does not say how its clock is steered: " + err.Error(),
			"whether the clock is synchronised is not told", "allow the call adjtimex in the container's seccomp profile",
		}}
	}
	findings := []Finding{v.syncFinding(subject, d), taiFinding(d)}
	if d.LeapInsert || d.LeapDelete {
		findings = append(findings, Finding{
			"leap second", Warning, "one is announced for the end of this UTC day",
			"wall stamps repeat or skip a second there, unless the clock is smeared; offsets against a source that does it otherwise jump by 1 s",
			"do not compare clocks across midnight UTC",
		})
	}
	if d.RatePPM >= maxRatePPM || d.RatePPM <= -maxRatePPM {
		findings = append(findings, Finding{
			subject, Warning, fmt.Sprintf("its rate correction stands at the limit of %+.0f ppm", d.RatePPM),
			"the clock source is further off than the kernel can correct, so the clock drifts all the same",
			"try another clock source; on a virtual machine, see whether the host's clock is steered",
		})
	}
	return findings
}

func (v *Visit) syncFinding(subject string, d Discipline) Finding {
	age := time.Duration(float64(d.MaxError) / maxErrorRate).Round(time.Second)
	errors := "error at most " + seconds(d.MaxError)
	daemon := ""
	for _, s := range v.steerings() {
		if s.clock == realtime && !s.rarely {
			daemon = s.process.full
		}
	}
	switch {
	case d.MaxError == misread || d.EstimatedError == misread:
		return Finding{
			subject, Warning, "it reports an error of exactly 2³² ns (4.29 s), a known fault of clocks in KVM guests",
			"the number means nothing, and monitoring that reads it raises a false alarm", "ignore it; ask the daemon instead, or update the kernel",
		}
	case d.Unsynchronised && daemon == "":
		return Finding{
			subject, Note, "marked as not synchronised" + ceiling(d),
			"that is right while no program steers it; monitoring that shows 16 s shows the ceiling, not an error",
			"see time daemons",
		}
	case d.Unsynchronised:
		return Finding{
			subject, Warning, "marked as not synchronised, although " + daemon + " runs" + ceiling(d),
			"either the daemon has found no source it trusts, or it does not tell the kernel: chronyd does so only with the line rtcsync in its configuration",
			"ask the daemon: `chronyc tracking` or `timedatectl timesync-status` or `ntpq -p`",
		}
	case age > staleAfter:
		return Finding{
			subject, Warning, fmt.Sprintf("%s, and nobody has told the kernel otherwise for up to %s", errors, age),
			"a daemon that is gone or has lost its sources leaves the clock marked as synchronised while it drifts",
			"see whether it still runs and what it says: `chronyc tracking` or `timedatectl timesync-status`",
		}
	}
	return Finding{Subject: subject, State: OK, What: fmt.Sprintf("synchronised, %s, rate correction %+.3f ppm", errors, d.RatePPM)}
}

// staleAfter is when a clock marked as synchronised is doubted: daemons poll every
// 1024 s at their laziest, and timesyncd every 2048 s.
const staleAfter = 2 * time.Hour

func ceiling(d Discipline) string {
	if d.MaxError >= maxErrorCeiling {
		return "; its error stands at the kernel's ceiling of " + seconds(maxErrorCeiling)
	}
	return ""
}

func taiFinding(d Discipline) Finding {
	const subject = "TAI offset"
	if d.TAI == 0 {
		return Finding{
			subject, Note, "the kernel does not know it (it stands at 0)",
			"CLOCK_TAI shows UTC here. PTP runs on TAI: a program that converts with this number is off by 37 s",
			"for NTP nothing; for PTP let chronyd set it (`leapsectz right/UTC`), and give `probe ptp` its option utc-offset",
		}
	}
	if d.TAI == taiSince2017 {
		return Finding{Subject: subject, State: OK, What: "TAI − UTC is 37 s"}
	}
	return Finding{
		subject, Warning, fmt.Sprintf("TAI − UTC stands at %s; since 2017 it is 37 s", seconds(d.TAI)),
		"whoever converts PTP's time with it is off by the difference, unless a leap second has come since",
		"see the leap second file of the daemon that set it",
	}
}

func seconds(d time.Duration) string { return unit.Format(d.Seconds(), "s") }
