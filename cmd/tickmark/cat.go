package main

import "github.com/spf13/cobra"

func newCatVerb(s *streams) *cobra.Command {
	h := &handOn{}
	cmd := &cobra.Command{
		Use:   "cat TRACE",
		Short: "Write a trace, or any file that is read as one, in another form",
		Long: `The form is that of the ending of -o (tickmark list exports), or --as; the native one otherwise.
What a form cannot hold is said.`,
		Example: `  tickmark cat api.trace -o api.csv
  tickmark cat builtin:http-gc --as jsonl | head -3
  tickmark cat api.trace -o api.hgrm
  tickmark cat results.csv --as prom`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.one(cmd.Context(), s, args[0], nil)
		},
	}
	h.flags(cmd)
	return cmd
}
