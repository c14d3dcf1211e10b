package doctor

import (
	"cmp"
	"slices"
	"strings"
)

// State is how much a finding stands in the way.
type State string

// The states, the worst first.
const (
	Problem State = "problem" // measurements are wrong or cannot be made
	Warning State = "warning" // they are worse than this host could give
	Note    State = "note"    // worth knowing when reading them
	OK      State = "ok"
)

// States returns all states, the worst first.
func States() []State { return []State{Problem, Warning, Note, OK} }

// Finding is one thing about a host. Why and Do are empty where nothing stands in the
// way. Commands to copy stand between backquotes.
type Finding struct {
	Subject string
	State   State
	What    string // what is so
	Why     string // what it does to a measurement
	Do      string // what changes it
}

// Check looks at one subject.
type Check struct {
	Name string
	Look func(*Visit) []Finding
}

// Checks lists what is looked at.
func Checks() []Check {
	return []Check{
		{"network interfaces", checkNICs},
		{"hardware clocks", checkPHCs},
		{"clock source", checkClockSource},
		{"time daemons", checkDaemons},
		{"kernel clock", checkKernelClock},
		{"leap smear", checkSmear},
		{"rights", checkRights},
		{"daemon sockets", checkDaemonSockets},
		{"real-time scheduling", checkRealTime},
		{"sockets", checkSockets},
		{"cpu speed", checkGovernor},
		{"cpu sleep", checkSleepStates},
		{"cpus", checkCPUs},
		{"machine", checkMachine},
		{"container", checkContainer},
		{"suspend", checkSuspend},
		{"self-test", checkSelfTest},
	}
}

// Diagnosis is all that was found.
type Diagnosis struct {
	Findings []Finding // the worst first
	Stamps   string    // what packets can be stamped by, in a sentence
	Unread   []string  // what there is but could not be read
}

// Examine runs all checks. They know Linux; of another system they say only that.
func Examine(h *Host) *Diagnosis {
	if h.FS == nil {
		return &Diagnosis{Stamps: "What this host can stamp is not known.", Findings: []Finding{{
			"system", Note, "this program looks into Linux only; here its probes use what Go offers on every system",
			"packets are stamped by the program, some tens of µs late, and there is no PTP",
			"measure clocks from a Linux host; round trips and pauses can be measured here",
		}}}
	}
	v := &Visit{Host: h, unread: map[string]int{}}
	d := &Diagnosis{}
	for _, c := range Checks() {
		d.Findings = append(d.Findings, c.Look(v)...)
	}
	slices.SortStableFunc(d.Findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(States(), a.State), slices.Index(States(), b.State))
	})
	d.Stamps, d.Unread = v.stampSentence(), v.unreadSentences()
	return d
}

// Count returns how many findings are in a state.
func (d *Diagnosis) Count(s State) int64 {
	n := int64(0)
	for _, f := range d.Findings {
		if f.State == s {
			n++
		}
	}
	return n
}

// list joins words as a sentence does: "a, b and c".
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
