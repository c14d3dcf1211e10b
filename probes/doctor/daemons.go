package doctor

import (
	"fmt"
	"maps"
	"slices"
)

// checkDaemons looks for who steers each clock: nobody, one, or several that work
// against each other.
func checkDaemons(v *Visit) []Finding {
	const subject = "time daemons"
	by := map[string][]steering{}
	var agents []steering
	for _, s := range v.steerings() {
		if s.rarely {
			agents = append(agents, s)
			continue
		}
		by[s.clock] = append(by[s.clock], s)
	}
	var findings []Finding
	for _, clock := range slices.Sorted(maps.Keys(by)) {
		if all := by[clock]; len(all) > 1 && clock != "" {
			findings = append(findings, rivals(subject, clock, all))
		}
	}
	findings = append(findings, v.loops(subject, by)...)
	if len(by[realtime]) == 0 {
		findings = append(findings, v.nobody(subject, by))
	} else if len(findings) == 0 {
		parts := []string{by[realtime][0].process.String() + " steers the system clock"}
		for _, clock := range slices.Sorted(maps.Keys(by)) {
			if clock != realtime && clock != "" {
				parts = append(parts, by[clock][0].process.String()+" steers "+clock)
			}
		}
		findings = append(findings, Finding{Subject: subject, State: OK, What: list(parts)})
	}
	if len(agents) > 0 {
		findings = append(findings, Finding{
			subject, Note, names(agents) + " may set the clock, as guest agents do",
			"after a suspend, a snapshot or a migration it can step the clock under a running measurement; the trace then shows a step",
			"nothing, if a time daemon runs too; to be sure, switch off its time synchronisation in the machine's settings",
		})
	}
	return findings
}

// rivals is a finding of several that steer one clock.
func rivals(subject, clock string, all []steering) Finding {
	f := Finding{
		subject, Problem, fmt.Sprintf("%s all steer %s", names(all), clock),
		"each takes the other's corrections for errors of the clock and undoes them: offsets measured here swing between the two",
		"keep one; stop the others and disable their services",
	}
	switch {
	case slices.ContainsFunc(all, func(s steering) bool { return s.process.name == "systemd-timesyn" }):
		f.Do = "keep the other: `sudo systemctl disable --now systemd-timesyncd`"
	case clock != realtime:
		f.Do = "decide where this clock gets its time from, the network or the system clock, and stop the other; a ptp4l that only gives time out says so with serverOnly 1 (masterOnly before version 4)"
	}
	if len(all) == 2 {
		f.What = fmt.Sprintf("%s both steer %s", names(all), clock)
	}
	if slices.ContainsFunc(all, func(s steering) bool { return !s.sure }) {
		f.State = Warning
		f.What = fmt.Sprintf("%s may steer %s at the same time", names(all), clock)
		f.Why = "if they do, each undoes the other's corrections, and offsets measured here swing between the two"
		f.Do = "see what each says of itself (`chronyc tracking`, `pmc -u -b 0 'GET PORT_DATA_SET'`), and stop one"
	}
	return f
}

// loops finds a clock that phc2sys sets after the system clock while ptp4l sets it
// after the network.
func (v *Visit) loops(subject string, by map[string][]steering) []Finding {
	unknown := by[""]
	if len(unknown) == 0 || len(by[realtime]) == 0 {
		return nil
	}
	return []Finding{{
		subject, Note, names(unknown) + " steers hardware clocks, which of them its arguments do not say",
		"if it is set after the system clock and ptp4l after the network, the two pull apart",
		"see its log",
	}}
}

// nobody is a finding of a system clock that no program steers.
func (v *Visit) nobody(subject string, by map[string][]steering) Finding {
	f := Finding{
		subject, Warning, "no program that steers the system clock was found running",
		"the clock drifts freely, typically by some seconds a day: the time it shows is not UTC, and offsets to other hosts grow. Round trips and pauses are not affected",
		"start one, for example `sudo systemctl enable --now chronyd`",
	}
	if inside := v.containers(); inside != nil {
		f.State = Note
		f.What = "no program that steers the system clock was found in this container"
		f.Why = "the clock is the host's, and so is the daemon that steers it, which cannot be seen from in here"
		f.Do = "run `tickmark doctor` on the host"
	}
	if others := slices.Sorted(maps.Keys(by)); len(others) > 0 && others[0] != "" {
		f.What += fmt.Sprintf("; %s steers %s only", by[others[0]][0].process, others[0])
		f.Do = "to carry that to the system clock, run phc2sys beside it"
	}
	return f
}

func names(all []steering) string {
	var words []string
	for _, s := range all {
		if name := s.process.String(); !slices.Contains(words, name) {
			words = append(words, name)
		}
	}
	return list(words)
}
