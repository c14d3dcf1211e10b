package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/corpus"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/plots"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
)

// kinds maps what `tickmark list` takes to the rows it prints.
func kinds() map[string]func() [][]any {
	return map[string]func() [][]any{
		"probes":     func() [][]any { return entries(probes.Probes()) },
		"options":    func() [][]any { return options(probes.Probes()) },
		"estimators": func() [][]any { return entries(adaptive.Estimators()) },
		"formats":    func() [][]any { return entries(datasets.Formats()) },
		"datasets":   recordings,
		"exports":    func() [][]any { return entries(datasets.Exports()) },
		"figures":    func() [][]any { return entries(plots.Figures()) },
		"faults":     func() [][]any { return entries(serve.Faults()) },
	}
}

func entries[T any](table spec.Table[T]) [][]any {
	var rows [][]any
	for _, e := range table {
		var options []string
		for _, o := range e.Options() {
			options = append(options, o.Name+"="+o.Default)
		}
		rows = append(rows, []any{e.Name, strings.Join(options, ","), e.Summary})
	}
	return rows
}

// recordings are those that come with tickmark, by the name that stands for a TRACE.
func recordings() [][]any {
	var rows [][]any
	for _, name := range corpus.Names() {
		h, err := corpus.Header(name)
		if err != nil { // a test reads them all
			continue
		}
		rows = append(rows, []any{corpus.Prefix + name, string(h.Kind()), h.Text(corpus.KeyTitle) + "; " + h.Text(corpus.KeyTruth)})
	}
	return rows
}

// options are those of each entry, a row each, with what they choose between.
func options[T any](table spec.Table[T]) [][]any {
	var rows [][]any
	for _, e := range table {
		for _, o := range e.Options() {
			rows = append(rows, []any{e.Name + ":" + o.Name, o.Default, strings.ReplaceAll(o.Usage, "`", "")})
		}
	}
	return rows
}

func newListVerb(s *streams) *cobra.Command {
	out := &output{}
	names := slices.Sorted(maps.Keys(kinds()))
	cmd := &cobra.Command{
		Use:       "list KIND",
		Short:     "Name everything of a kind: " + strings.Join(names, ", "),
		Example:   "  tickmark list estimators\n  tickmark list probes -f json\n  tickmark list options    # of the probes: what each chooses between",
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, ok := kinds()[args[0]]
			if !ok {
				return spec.Unknown("kind", args[0], names)
			}
			return out.write(s, cmd.Name(), nil, nil, report.Table{
				Name:    args[0],
				Columns: []report.Column{{Name: "name"}, {Name: "options"}, {Name: "summary"}},
				Rows:    rows(),
			})
		},
	}
	out.flags(cmd)
	return cmd
}
