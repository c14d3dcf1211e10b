package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/plots"
)

func newPlotVerb(s *streams) *cobra.Command {
	in, file, theme := &input{}, "", "light"
	cmd := &cobra.Command{
		Use:   "plot FIGURE TRACE...",
		Short: "Draw one figure: " + strings.Join(plots.Figures().Names(), ", "),
		Long: `Draws one figure of one or more traces, as SVG to standard output or to -o, whose name says
the form: .svg, .png, or .csv for the numbers that are drawn.`,
		Example: `  tickmark plot survival api.trace > survival.svg
  tickmark plot rtt api.trace -o rtt.png --theme dark
  tickmark plot 'timeout:estimator="jacobson:k=4"' api.trace -o timeout.svg`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "-" {
				file = ""
			}
			write, err := chartWriter(file, theme)
			if err != nil {
				return err
			}
			chart, err := drawFigure(cmd.Context(), s, in, args[0], args[1:])
			if err != nil {
				return err
			}
			draw := func(w io.Writer) error { return write(chart, w) }
			if file == "" {
				return draw(s.out)
			}
			return replaceFile(file, draw)
		},
	}
	completeFirst(cmd, plots.Figures().Names())
	in.flags(cmd)
	cmd.Flags().StringVarP(&file, "output", "o", "", "draw to this `file`: .svg, .png or .csv")
	cmd.Flags().StringVar(&theme, "theme", theme, "`palette`: light or dark")
	complete(cmd, "theme", []string{"light", "dark"})
	return cmd
}

// chartWriter returns what writes a chart in the form that the file's name asks for.
func chartWriter(file, theme string) (func(*plots.Chart, io.Writer) error, error) {
	if theme != "light" && theme != "dark" {
		return nil, usagef("plot: --theme %q: want light or dark", theme)
	}
	palette := plots.Theme{Dark: theme == "dark"}
	ext := filepath.Ext(file)
	if file == "" {
		ext = ".svg"
	}
	switch ext {
	case ".svg":
		return func(c *plots.Chart, w io.Writer) error { return c.WriteSVG(w, palette) }, nil
	case ".png":
		return func(c *plots.Chart, w io.Writer) error { return c.WritePNG(w, palette) }, nil
	case ".csv":
		return func(c *plots.Chart, w io.Writer) error { return c.WriteCSV(w) }, nil
	default:
		return nil, usagef("plot: -o %q: want a name that ends in .svg, .png or .csv", file)
	}
}

func drawFigure(ctx context.Context, s *streams, in *input, figure string, paths []string) (*plots.Chart, error) {
	if _, _, err := plots.Figures().Parse("figure", figure); err != nil {
		return nil, err
	}
	traces, done, err := openTraces(ctx, s, in, paths)
	if err != nil {
		return nil, err
	}
	defer done()
	return plots.Draw(figure, traces)
}

// openTraces opens all of paths, or none. The closer must be called.
func openTraces(ctx context.Context, s *streams, in *input, paths []string) (traces []plots.Trace, done func(), err error) {
	var closers []func()
	done = func() {
		for _, c := range closers {
			c()
		}
	}
	for _, path := range paths {
		rows, closeFile, err := in.open(ctx, s, path)
		if err != nil {
			done()
			return nil, nil, err
		}
		closers = append(closers, closeFile)
		traces = append(traces, plots.Trace{Name: displayName(path), Rows: rows})
	}
	return traces, done, nil
}
