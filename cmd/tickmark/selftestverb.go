package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/probes/nic"
)

func newSelfTestVerb(s *streams) *cobra.Command {
	out := &output{}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "This host's own stamp bias and floor, by who takes the stamps",
		Long: `Makes exchanges with an own NTP server on loopback, whose clock is this host's, in every way that
stamps can be taken here: what is read as an offset is the instrument's own error.
  interleaved  the kernel takes all four (RFC 9769)
  basic        the kernel takes those of arrivals, the program those of what it sends: the default
  kernel       the kernel takes T1 too, and still the program T3
  user         the program takes T1 and T4
The result is kept for a week by this user ($TICKMARK_STATE, else ~/.local/state/tickmark), and goes
into the headers and error budgets of what is measured here meanwhile.
Stamps of hardware cannot be tested so: no packet on loopback meets a NIC.`,
		Example: `  tickmark selftest
  tickmark selftest -f json
  tickmark selftest --fail-if 'error_p99[interleaved] > 20us'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tests, warnings, err := runSelfTests(cmd.Context(), s, stampModes())
			return tellSelfTests(s, out, tests, warnings, err)
		},
	}
	out.flags(cmd)
	out.gateFlag(cmd)
	return cmd
}

// tellSelfTests keeps and prints what was found. What was done before Ctrl-C is kept and
// printed too.
func tellSelfTests(s *streams, out *output, tests []*selfTest, warnings []string, stopped error) error {
	if stopped != nil && (len(tests) == 0 || !errors.Is(stopped, errInterrupted)) {
		return stopped
	}
	if err := keepSelfTests(time.Now(), tests...); err != nil {
		warnings = append(warnings, "the result could not be kept: "+err.Error())
	}
	warnings = append(selfTestDoubts(tests), warnings...)
	warnings = append(warnings, untestedHardware(hardwareNICs())...)
	err := out.write(s, "selftest", selfTestHeadline(tests), warnings, selfTestTable(tests))
	if stopped != nil {
		return stopped
	}
	return err
}

// runSelfTests tests mode by mode. The warnings say what this system has not got.
func runSelfTests(ctx context.Context, s *streams, modes []stampMode) (tests []*selfTest, warnings []string, err error) {
	var done atomic.Int64
	stop := showProgress(ctx, s.err, "testing", int64(len(modes)), done.Load)
	defer stop()
	for i, m := range modes {
		t, err := runSelfTest(ctx, m)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			warnings = append(warnings, fmt.Sprintf("%s: not here: %v", m.name, err))
		case errors.Is(err, errInterrupted):
			return tests, append(warnings, fmt.Sprintf("stopped: %s of %s modes were not tested",
				unit.Count(int64(len(modes)-i)), unit.Count(int64(len(modes))))), errInterrupted
		case err != nil:
			return nil, nil, fmt.Errorf("selftest: %s: %w", m.name, err)
		default:
			tests = append(tests, t)
		}
		done.Add(1)
	}
	return tests, warnings, nil
}

// best returns the test with the least error, if there is one that tells any.
func best(tests []*selfTest) (best *selfTest, floor float64) {
	for _, t := range tests {
		if v, ok := t.middle.Value.Value(); ok && (best == nil || v < floor) {
			best, floor = t, v
		}
	}
	return best, floor
}

// selfTestHeadline is the answer: the best that this host can do, how to have it, and
// what is had without asking for it.
func selfTestHeadline(tests []*selfTest) []string {
	best, floor := best(tests)
	if best == nil {
		return []string{"No mode gave enough exchanges to tell this host's own error."}
	}
	line := fmt.Sprintf("This host's floor is %s (|error| p50", unit.Format(floor, "s"))
	if tail, ok := best.tail.Value.Value(); ok {
		line += fmt.Sprintf("; 99 %% within %s", unit.Format(tail, "s"))
	}
	line += fmt.Sprintf("), with probe %s.", best.mode.probe)
	lines := []string{line}
	for _, t := range tests {
		if v, ok := t.middle.Value.Value(); ok && t != best && t.mode == defaultMode() {
			lines = append(lines, fmt.Sprintf("With the default, %s, it is %s.", t.mode.probe, unit.Format(v, "s")))
		}
	}
	return append(lines, "A smaller offset says nothing. The bias of a mode goes into the bounds of what is measured in it.")
}

// selfTestDoubts says what the numbers do not settle.
func selfTestDoubts(tests []*selfTest) (doubts []string) {
	best, _ := best(tests)
	for _, t := range tests {
		if best != nil && t != best && overlap(t.middle, best.middle) {
			doubts = append(doubts, fmt.Sprintf("%s and %s cannot be told apart by these exchanges: their intervals of |error| p50 overlap", best.mode.name, t.mode.name))
		}
		for _, i := range []struct {
			what string
			analysis.Interval
		}{{"bias", t.bias}, {"|error| p50", t.middle}, {"|error| p99", t.tail}} {
			for _, w := range i.Warnings {
				doubts = append(doubts, fmt.Sprintf("%s: %s %s", t.mode.name, i.what, w))
			}
		}
	}
	return doubts
}

// overlap reports whether two intervals have a value in common.
func overlap(a, b analysis.Interval) bool {
	alo, ok1 := a.Lo.Value()
	ahi, ok2 := a.Hi.Value()
	blo, ok3 := b.Lo.Value()
	bhi, ok4 := b.Hi.Value()
	return ok1 && ok2 && ok3 && ok4 && alo <= bhi && blo <= ahi
}

// hardwareNICs names the interfaces that stamp packets themselves.
func hardwareNICs() (names []string) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range interfaces {
		if able, err := nic.Inspect(i.Name); err == nil && able.Hardware() != nic.Nothing {
			names = append(names, i.Name)
		}
	}
	return names
}

func untestedHardware(names []string) []string {
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf("hardware: %s can stamp packets, but none on loopback meets a NIC: what its stamps are off by is not tested", strings.Join(names, ", "))}
}

func selfTestTable(tests []*selfTest) report.Table {
	t := report.Table{Name: "selftest", Caption: "read of a server whose clock is this host's, so the truth is 0; stamps: who took T1 to T4"}
	t.Columns = []report.Column{{Name: "mode"}, {Name: "samples", Unit: "count"}}
	for _, name := range []string{"bias", "error_p50", "error_p99"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Unit: "s"}, report.Column{Name: name + "_lo", Unit: "s"}, report.Column{Name: name + "_hi", Unit: "s"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "missing", Unit: "count"}, report.Column{Name: "stamps"})
	for _, r := range tests {
		row := []any{r.mode.name, r.bias.N}
		for _, i := range []analysis.Interval{r.bias, r.middle, r.tail} {
			v, lo, hi := i.Cells()
			row = append(row, v, lo, hi)
		}
		t.Rows = append(t.Rows, append(row, r.missing, r.stamps))
	}
	return t
}
