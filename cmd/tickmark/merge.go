package main

import (
	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

func newMergeVerb(s *streams) *cobra.Command {
	h := &handOn{}
	cmd := &cobra.Command{
		Use:   "merge TRACE...",
		Short: "Several traces of one kind as one, in the order of their time",
		Long: `Instants are moved to the earliest epoch. Attempts are numbered anew and calls kept apart; header
keys in which the traces differ are left out, and named.`,
		Example: `  tickmark merge monday.trace tuesday.trace -o both.trace`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []datasets.Stream
			for _, path := range args {
				stream, done, err := h.in.open(cmd.Context(), s, path)
				if err != nil {
					return err
				}
				defer done()
				all = append(all, stream)
			}
			merged, err := datasets.NewMerge(args, all)
			if err != nil {
				return err
			}
			return h.trace(s, merged, nil)
		},
	}
	h.flags(cmd)
	return cmd
}
