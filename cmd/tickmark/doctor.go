package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/probes/doctor"
)

func newDoctorVerb(s *streams) *cobra.Command {
	out := &output{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "What this host can measure, what stands in the way, and what to do about it",
		Long: `doctor looks at what this host can measure and what stands in the way: what its
network interfaces stamp, its clocks and who steers them, the rights of this user, and what
makes a process wait. It changes nothing and sends nothing; whether a server answers is for
the probes to tell. It needs no rights, and names what it was not allowed to read.`,
		Example: `  tickmark doctor
  tickmark doctor -f json
  tickmark doctor --fail-if 'state == problem'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			host := doctor.ThisHost()
			host.SelfTest = doctorSelfTest
			d := doctor.Examine(host)
			return out.write(s, cmd.Name(), doctorHeadline(d), d.Unread, doctorTable(d))
		},
	}
	out.flags(cmd)
	out.gateFlag(cmd)
	return cmd
}

func doctorTable(d *doctor.Diagnosis) report.Table {
	t := report.Table{
		Name: "doctor", Prose: "state",
		Columns: []report.Column{{Name: "subject"}, {Name: "state"}, {Name: "what"}, {Name: "why"}, {Name: "do"}},
	}
	for _, f := range d.Findings {
		t.Rows = append(t.Rows, []any{f.Subject, string(f.State), f.What, orNil(f.Why), orNil(f.Do)})
	}
	return t
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// doctorHeadline says what can be measured, and how much stands in the way.
func doctorHeadline(d *doctor.Diagnosis) []string {
	var bad []string
	for _, s := range []doctor.State{doctor.Problem, doctor.Warning} {
		if n := d.Count(s); n > 0 {
			bad = append(bad, plural(n, string(s)))
		}
	}
	parts := []string{"Nothing stands in the way"}
	if bad != nil {
		parts[0] = "In the way: " + strings.Join(bad, ", ")
	}
	if n := d.Count(doctor.Note); n > 0 {
		parts = append(parts, "worth knowing: "+plural(n, "note"))
	}
	parts = append(parts, "in order: "+unit.Count(d.Count(doctor.OK)))
	return []string{d.Stamps, strings.Join(parts, "; ") + "."}
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return unit.Count(n) + " " + word + "s"
}
