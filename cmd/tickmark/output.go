package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets/spec"
)

// output is how a verb that prints tables was asked to print them.
type output struct {
	format, table string
	failIf        []string
	gates         []report.Gate
	brief         []report.Table // what a person is shown instead, if anything
}

func forms() []string { return []string{"text", "json", "csv", "md"} }

// flags declares what all verbs that print tables take, and checks it before the
// verb begins.
func (o *output) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.format, "as", "f", "text", "`form` of the tables: text, json, csv or md")
	cmd.Flags().StringVar(&o.table, "table", "", "print only the table of this `name`")
	complete(cmd, "as", forms())
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return o.check(cmd.Name()) }
}

func (o *output) gateFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.failIf, "fail-if", nil, "exit 3 if `'COLUMN[ROW] OP VALUE'` holds in the first table")
}

func (o *output) check(verb string) error {
	if !slices.Contains(forms(), o.format) {
		return spec.Unknown("form", o.format, forms())
	}
	for _, text := range o.failIf {
		g, err := report.ParseGate(text)
		if err != nil {
			return usagef("%s: --fail-if %q: %v", verb, text, err)
		}
		o.gates = append(o.gates, g)
	}
	return nil
}

// write prints the tables and then judges the gates over the first of them.
func (o *output) write(s *streams, command string, headline, warnings []string, tables ...report.Table) error {
	d := &report.Document{Version: version(), Command: command, Headline: headline, Tables: tables, Warnings: warnings}
	if o.format == "text" && o.table == "" && len(o.brief) > 0 {
		d.Tables = o.brief
	}
	failed, err := o.judge(command, tables)
	if err != nil {
		return err
	}
	if err := report.Write(s.out, o.format, d, o.table); err != nil {
		return err
	}
	if len(failed) > 0 {
		return &gateError{fmt.Sprintf("gate failed: %s", strings.Join(failed, "; "))}
	}
	return nil
}

// judge returns why the gates that hold do. A gate that does not fit the table is
// wrong use.
func (o *output) judge(command string, tables []report.Table) ([]string, error) {
	var failed []string
	if len(tables) == 0 && len(o.gates) > 0 {
		return nil, fmt.Errorf("%s: --fail-if %q: there is no table to judge", command, o.failIf[0])
	}
	for i, g := range o.gates {
		fails, why, err := g.Check(&tables[0])
		if err != nil {
			return nil, usagef("%s: --fail-if %q: %v", command, o.failIf[i], err)
		}
		if fails {
			failed = append(failed, why)
		}
	}
	return failed, nil
}
