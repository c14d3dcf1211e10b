package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
)

func newSelfTestVerb(s *streams) *cobra.Command {
	out := &output{}
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "This host's own stamp bias and floor, by who takes the stamps",
		Long: `Makes exchanges with an own NTP server on loopback, whose clock is this host's, in every way that
stamps can be taken here: what is read as an offset is the instrument's own error. The result is
kept for a week by this user ($TICKMARK_STATE, else ~/.local/state/tickmark), and goes into the
headers and error budgets of what is measured here meanwhile.
Stamps of hardware cannot be tested so: no packet on loopback meets a NIC.`,
		Example: `  tickmark selftest
  tickmark selftest -f json
  tickmark selftest --fail-if 'error_p99[interleaved] > 20us'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			tests, warnings, err := runSelfTests(cmd.Context(), s)
			if err != nil {
				return err
			}
			if err := keepSelfTests(time.Now(), tests...); err != nil {
				warnings = append(warnings, "the result could not be kept: "+err.Error())
			}
			return out.write(s, cmd.Name(), selfTestHeadline(tests), warnings, selfTestTable(tests))
		},
	}
	out.flags(cmd)
	out.gateFlag(cmd)
	return cmd
}

func runSelfTests(ctx context.Context, s *streams) (tests []*selfTest, warnings []string, err error) {
	modes := stampModes()
	var done atomic.Int64
	stop := showProgress(ctx, s.err, "testing", int64(len(modes)), done.Load)
	defer stop()
	for _, m := range modes {
		t, err := runSelfTest(ctx, m)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			warnings = append(warnings, fmt.Sprintf("%s: not here: %v", m.name, err))
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("selftest: %s: %w", m.name, err)
		}
		tests = append(tests, t)
		done.Add(1)
		for _, i := range []struct {
			what string
			analysis.Interval
		}{{"bias", t.bias}, {"|error| p50", t.middle}, {"|error| p99", t.tail}} {
			for _, w := range i.Warnings {
				warnings = append(warnings, fmt.Sprintf("%s: %s %s", m.name, i.what, w))
			}
		}
	}
	return tests, warnings, nil
}

// selfTestHeadline is the answer: the best that this host can do, and its default.
func selfTestHeadline(tests []*selfTest) []string {
	var best *selfTest
	least := 0.0
	for _, t := range tests {
		if v, ok := t.middle.Value.Value(); ok && (best == nil || v < least) {
			best, least = t, v
		}
	}
	if best == nil {
		return []string{"No mode gave enough exchanges to tell this host's own error."}
	}
	line := fmt.Sprintf("Stamps are good to %s here (|error| p50) at best, in mode %s", unit.Format(least, "s"), best.mode)
	if tail, ok := best.tail.Value.Value(); ok {
		line += fmt.Sprintf(", and 99 %% of them to %s", unit.Format(tail, "s"))
	}
	return []string{line + ".", "An offset below that says nothing; each mode's bias is added to the bound of what is measured in it."}
}

func selfTestTable(tests []*selfTest) report.Table {
	t := report.Table{Name: "selftest", Caption: "what is read of a server whose clock is this host's: the truth is 0; stamps: who took T1, T2, T3, T4"}
	t.Columns = []report.Column{{Name: "mode"}, {Name: "samples", Unit: "count"}}
	for _, name := range []string{"bias", "error_p50", "error_p99"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Unit: "s"}, report.Column{Name: name + "_lo", Unit: "s"}, report.Column{Name: name + "_hi", Unit: "s"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "missing", Unit: "count"}, report.Column{Name: "stamps"})
	for _, r := range tests {
		row := []any{r.mode, r.bias.N}
		for _, i := range []analysis.Interval{r.bias, r.middle, r.tail} {
			v, lo, hi := i.Cells()
			row = append(row, v, lo, hi)
		}
		t.Rows = append(t.Rows, append(row, r.missing, r.stamps))
	}
	return t
}
