package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
)

func newValidateVerb(s *streams) *cobra.Command {
	in, out := &input{}, &output{}
	cmd := &cobra.Command{
		Use:     "validate TRACE...",
		Short:   "Whether traces are whole and right; exit 1 if one is not",
		Example: "  tickmark validate api.trace\n  tickmark validate -f json runs/*.trace",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := report.Table{Name: "checks", Columns: []report.Column{
				{Name: "trace"}, {Name: "check"}, {Name: "holds"}, {Name: "broken", Unit: "count"}, {Name: "first"}, {Name: "what"},
			}}
			broken := 0
			err := in.each(cmd.Context(), s, args, func(name string, rows datasets.Stream) error {
				checks, err := datasets.Validate(rows)
				for _, c := range checks {
					var first any
					holds := "yes"
					if c.Broken > 0 {
						holds, first = "no", c.First
						broken++
					}
					t.Rows = append(t.Rows, []any{name, c.Name, holds, c.Broken, first, c.What})
				}
				return err
			})
			if err == nil {
				err = out.write(s, cmd.Name(), nil, nil, t)
			}
			if err == nil && broken > 0 {
				err = fmt.Errorf("validate: %s", counted(int64(broken), "broken check"))
			}
			return err
		},
	}
	in.flags(cmd)
	out.flags(cmd)
	return cmd
}
