package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func newClocksVerb(s *streams) *cobra.Command {
	in, out := &input{}, &output{}
	drift := 0.0
	cmd := &cobra.Command{
		Use:   "clocks TRACE...",
		Short: "How far clocks are apart: offset, bound and what it is made of, stamps, doubts",
		Long: `θ is server − client: positive when this clock is slow. The bound is a hard limit on the error of the
exchange with the shortest round trip, and the budget what it is made of: what the stamps prove, what
was measured, what is assumed. The state says whether the server is to be believed: good, doubtful,
refused or silent. --fail-if judges the columns of the table summary (-f csv shows them).`,
		Example: `  tickmark clocks ntp.trace
  tickmark clocks --max-drift 1 -f json flows/*.trace
  tickmark clocks --fail-if 'bound > 1ms' ntp.trace`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("max-drift"):
				drift = 0 // as the trace says
			case !(drift > 0 && drift <= 1e6):
				return usagef("clocks: --max-drift %g: want a rate above 0 and up to 1000000 ppm", drift)
			}
			var summaries []*analysis.Summary
			err := in.each(cmd.Context(), s, args, func(name string, rows datasets.Stream) error {
				sum, err := agreement(name, rows, drift)
				summaries = append(summaries, sum)
				return err
			})
			if err != nil {
				return err
			}
			return out.write(s, cmd.Name(), analysis.AgreementHeadline(summaries...),
				analysis.AgreementWarnings(summaries...), analysis.AgreementTables(summaries...)...)
		},
	}
	cmd.Flags().Float64Var(&drift, "max-drift", analysis.DefaultMaxDriftPPM, "rate error in `PPM` that the local clock is assumed not to exceed")
	in.flags(cmd)
	out.flags(cmd)
	out.gateFlag(cmd)
	return cmd
}

// agreement sums up a trace that tells of clocks. A drift of 0 leaves the assumption
// to the trace.
func agreement(name string, rows datasets.Stream, drift float64) (*analysis.Summary, error) {
	if err := wantKind(name, rows.Header(), "clocks", datasets.Exchanges, datasets.Clocks, datasets.Claims, datasets.SeriesKind); err != nil {
		return nil, err
	}
	if drift > 0 {
		rows.Header().Set(datasets.KeyMaxDrift, strconv.FormatFloat(drift, 'g', -1, 64)+"ppm")
	}
	return analysis.Summarise(name, rows)
}
