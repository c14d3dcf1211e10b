package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/report"
)

// output is how a verb that prints tables was asked to print them.
type output struct {
	format, table string
	failIf        []string
	brief         []report.Table // what a person is shown instead, if anything
}

func (o *output) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "as", "f", "text", "`form` of the tables: text, json, csv or md")
	cmd.Flags().StringVar(&o.table, "table", "", "print only the table of this `name`")
}

func (o *output) gateFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.failIf, "fail-if", nil, "exit 3 if `'COLUMN[ROW] OP VALUE'` holds in the first table")
}

// write prints the tables and then judges the gates over the first of them.
func (o *output) write(s *streams, command string, headline, warnings []string, tables ...report.Table) error {
	gates := make([]report.Gate, len(o.failIf))
	for i, text := range o.failIf {
		g, err := report.ParseGate(text)
		if err != nil {
			return usagef("%s: --fail-if %q: %v", command, text, err)
		}
		gates[i] = g
	}
	d := &report.Document{Version: version(), Command: command, Headline: headline, Tables: tables, Warnings: warnings}
	if o.format == "text" && o.table == "" && len(o.brief) > 0 {
		d.Tables = o.brief
	}
	if err := report.Write(s.out, o.format, d, o.table); err != nil {
		return err
	}
	var failed []string
	for i, g := range gates {
		fails, why, err := g.Check(&tables[0])
		if err != nil {
			return usagef("%s: --fail-if %q: %v", command, o.failIf[i], err)
		}
		if fails {
			failed = append(failed, why)
		}
	}
	if len(failed) > 0 {
		return &gateError{fmt.Sprintf("gate failed: %s", strings.Join(failed, "; "))}
	}
	return nil
}
