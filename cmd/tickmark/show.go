package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis"
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
			for _, path := range args {
				sum, err := summarise(cmd.Context(), s, in, path)
				if err != nil {
					return err
				}
				summaries = append(summaries, sum)
				warnings = append(warnings, sum.Warnings...)
			}
			return out.write(s, cmd.Name(), nil, warnings, analysis.Tables(summaries...)...)
		},
	}
	in.flags(cmd)
	out.flags(cmd)
	out.gateFlag(cmd)
	return cmd
}

func summarise(ctx context.Context, s *streams, in *input, path string) (*analysis.Summary, error) {
	rows, done, err := in.open(ctx, s, path)
	if err != nil {
		return nil, err
	}
	defer done()
	return analysis.Summarise(displayName(path), rows)
}
