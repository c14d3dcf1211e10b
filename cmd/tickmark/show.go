package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
)

func newShowVerb(s *streams) *cobra.Command {
	in, out := &input{}, &output{}
	cmd := &cobra.Command{
		Use:   "show TRACE...",
		Short: "What is in a trace: header, counts, quantiles with their intervals, warnings",
		Example: `  tickmark show api.trace
  tickmark show -f json --table summary a.trace b.trace
  tickmark probe clock --count 100 | tickmark show -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var summaries []*analysis.Summary
			var warnings []string
			err := in.each(cmd.Context(), s, args, func(name string, rows datasets.Stream) error {
				sum, err := analysis.Summarise(name, rows)
				if err != nil {
					return err
				}
				summaries = append(summaries, sum)
				for _, w := range sum.Warnings {
					if !slices.Contains(warnings, w) { // all series of a file have its warnings
						warnings = append(warnings, w)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			return out.write(s, cmd.Name(), nil, warnings, analysis.Tables(summaries...)...)
		},
	}
	in.flags(cmd)
	out.flags(cmd)
	out.gateFlag(cmd)
	return cmd
}
