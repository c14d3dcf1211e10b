package main

import (
	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

func newHeadVerb(s *streams) *cobra.Command {
	h, n := &handOn{}, int64(0)
	cmd := &cobra.Command{
		Use:   "head TRACE",
		Short: "The first rows of a trace",
		Example: `  tickmark head api.trace
  tickmark head -n 1000 api.trace -o small.trace`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n < 1 {
				return usagef("head: -n %d: want at least 1", n)
			}
			seen := int64(0)
			return h.one(cmd.Context(), s, args[0], func(datasets.Stream) (*part, error) {
				return &part{
					note: "slice", what: "the first " + counted(n, "row"),
					keep: func(datasets.Row) (bool, error) { seen++; return true, nil },
					last: func() bool { return seen == n },
				}, nil
			})
		},
	}
	h.flags(cmd)
	cmd.Flags().Int64VarP(&n, "rows", "n", 10, "how `many`")
	return cmd
}
