package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/plots"
	"github.com/tickmark/tickmark/plots/page"
)

func newReportVerb(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "report RUN",
		Short: "The HTML report of a run folder, written to RUN/report",
		Long: `Reads a run folder (tickmark run) and writes RUN/report/index.html: one file that needs no
network, with each figure beside it as SVG and its numbers as CSV.`,
		Example: `  tickmark report monday
  tickmark run -o monday && tickmark report monday
  tickmark report /srv/runs/monday`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return reportRun(cmd.Context(), s, args[0]) },
	}
}

// runData is a run, read: what its report is made of.
type runData struct {
	*runFile
	folder    string
	summaries map[string]*analysis.Summary
	doubts    []string // traces that are not what the run left
	tuned     *tuned   // nil without round trips
}

// reportRun writes the report of a run folder and prints its verdict.
func reportRun(ctx context.Context, s *streams, folder string) error {
	r, err := readRun(ctx, s, folder)
	if err != nil {
		return err
	}
	verdict := r.verdict()
	sections, err := r.sections(ctx, s)
	if err != nil {
		return err
	}
	if err := r.writeSpectra(); err != nil {
		return err
	}
	index := filepath.Join(folder, "report", "index.html")
	err = replaceFile(index, func(w io.Writer) error {
		return page.Render(w, page.Report{
			Title:    "How far to trust this host's clock and its calls",
			Subtitle: fmt.Sprintf("Measured %s by tickmark %s", r.Created.Format("2006-01-02 15:04:05 UTC"), r.Tickmark),
			Verdict:  verdict,
			Changes:  r.changes(),
			Sections: sections,
			Facts:    r.facts(),
			Warnings: r.warnings(),
		})
	})
	if err != nil {
		return err
	}
	d := &report.Document{Headline: verdict, Warnings: append(r.Failed, r.doubts...)}
	if err := report.Write(s.out, "text", d, ""); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "\nreport: %s\n", index)
	return err
}

func readRun(ctx context.Context, s *streams, folder string) (*runData, error) {
	file, err := readRunFile(folder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(folder, "report"), 0o755); err != nil {
		return nil, plainPathError(err)
	}
	r := &runData{runFile: file, folder: folder, summaries: map[string]*analysis.Summary{}}
	for _, t := range file.Traces {
		if doubt := t.doubt(folder); doubt != "" {
			r.doubts = append(r.doubts, doubt)
		}
		sum, err := r.summarise(ctx, s, t)
		if errors.Is(err, errInterrupted) {
			return nil, err
		} else if err != nil {
			r.doubts = append(r.doubts, err.Error())
			continue
		}
		r.summaries[t.Name] = sum
	}
	if len(r.summaries) == 0 {
		return nil, fmt.Errorf("%s: none of its traces can be read: %s", folder, strings.Join(r.doubts, "; "))
	}
	if udp := r.summaries["udp"]; udp != nil {
		if r.tuned, err = r.tune(ctx, s, udp); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// writeSpectra leaves the answered latencies of each trace beside the page, in
// milliseconds, in the form that HdrHistogram's plotters read.
func (r *runData) writeSpectra() error {
	for name, sum := range r.summaries {
		if sum.Trips == nil || sum.Trips.Answered() == 0 {
			continue
		}
		h, err := sum.Trips.Latencies.HDR()
		if err != nil {
			return fmt.Errorf("%s: %w", sum.Name, err)
		}
		err = replaceFile(filepath.Join(r.folder, "report", name+".hgrm"), func(w io.Writer) error {
			return h.WritePercentiles(w, time.Millisecond)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// summarise reads one trace of the run, which holds what its name promises.
func (r *runData) summarise(ctx context.Context, s *streams, t runTrace) (*analysis.Summary, error) {
	path := filepath.Join(r.folder, t.File)
	rows, done, err := (&input{}).open(ctx, s, path)
	if err != nil {
		return nil, err
	}
	defer done()
	want := map[string]datasets.Kind{"ntp": datasets.Exchanges, "udp": datasets.RTT, "pause": datasets.Pauses, "clock": datasets.Clocks}[t.Name]
	if err := wantKind(path, rows.Header(), "the report of "+t.Name, want); err != nil {
		return nil, err
	}
	return analysis.Summarise(t.File, rows)
}

func (r *runData) tune(ctx context.Context, s *streams, udp *analysis.Summary) (*tuned, error) {
	rows, done, err := (&input{}).open(ctx, s, filepath.Join(r.folder, "udp.trace"))
	if err != nil {
		return nil, err
	}
	defer done()
	return tuneTrace(rows, nil, adaptive.Goal{}, r.freezes(udp.Header))
}

// freezes places the freezes that were injected on a trace's clock, by its epoch.
// Both wall stamps are this host's; they place a freeze and are no latency.
func (r *runData) freezes(h *datasets.Header) []adaptive.Span {
	epoch, ok := h.Epoch()
	if !ok {
		return nil
	}
	var spans []adaptive.Span
	for _, i := range r.Injected {
		from := datasets.Instant(i.Start.Sub(epoch))
		spans = append(spans, adaptive.Span{From: from, To: from.Add(i.Length)})
	}
	return spans
}

// evidence is one section of the report: what is shown of which trace.
type evidence struct {
	title, trace, text string
	tables             []string
	figures            []figureFile
}

// figureFile is a figure, by its spec or by what was computed for it already, and the
// name of the files it is left in.
type figureFile struct {
	name, spec string
	made       func(plots.Trace) *plots.Chart
}

// timeoutFigures shows the comparison, the chosen estimator at work, and one that
// adapts beside a chosen one that does not. They are drawn of round trips, so the
// comparison is there by then.
func (r *runData) timeoutFigures() []figureFile {
	compared := figureFile{name: "tradeoff", made: func(t plots.Trace) *plots.Chart {
		return plots.Tradeoff(t, r.tuned.Tuning, adaptive.DefaultMaxFalsePositives)
	}}
	adapting := figureFile{name: "timeout-jacobson", spec: "timeout:estimator=jacobson"}
	if r.tuned == nil || r.tuned.Chosen() == nil {
		return []figureFile{compared, adapting}
	}
	chosen := figureFile{name: "timeout", spec: fmt.Sprintf("timeout:estimator=%q", r.tuned.Chosen().Spec)}
	if strings.HasPrefix(r.tuned.Chosen().Spec, "fixed:") {
		return []figureFile{compared, chosen, adapting}
	}
	return []figureFile{compared, chosen}
}

func (r *runData) evidence() []evidence {
	return []evidence{
		{
			"Clocks against a server", "ntp",
			"θ is server − client: positive when the local clock is slow. The bound is a hard limit on the error of one exchange and lists what it assumes; it is not a statistical interval.",
			[]string{"offsets", "budget"},
			[]figureFile{{name: "offset", spec: "offset"}},
		},
		{
			"Round trips", "udp",
			"Counted from when a call was due, so that a call held back by an earlier one is not flattered. The peer's answers are kept after any deadline.",
			[]string{"summary"},
			[]figureFile{{name: "rtt", spec: "rtt"}, {name: "survival", spec: "survival"}},
		},
		{
			"Timeouts", "udp",
			"Each timeout is replayed over the recording as its caller would have lived it: an answer counts from the instant it arrived. A false positive is a call given up on that was then answered; detection counts from a crash at any instant to the first timeout that fires.",
			[]string{"estimators"},
			r.timeoutFigures(),
		},
		{
			"Pauses of this process", "pause",
			"Short sleeps that ended late: for so long nothing of this process may have run. A lease must outlast the longest.",
			[]string{"pauses"},
			[]figureFile{{name: "pauses", spec: "pauses"}},
		},
		{
			"This host's four clocks", "clock",
			"Read together, they tell a step of the wall clock from a slew and from a suspend.",
			[]string{"clocks", "steps"},
			[]figureFile{{name: "clocks", spec: "clocks"}},
		},
	}
}

func (r *runData) sections(ctx context.Context, s *streams) ([]page.Section, error) {
	var sections []page.Section
	for _, e := range r.evidence() {
		sum := r.summaries[e.trace]
		if sum == nil {
			continue
		}
		section := page.Section{Title: e.title, Text: e.text}
		for _, t := range r.tables(sum) {
			for _, name := range e.tables {
				if t.Name == name {
					section.Tables = append(section.Tables, t)
				}
			}
		}
		for _, figure := range e.figures {
			f, err := r.figure(ctx, s, figure, sum.Name)
			if err != nil {
				return nil, err
			}
			section.Figures = append(section.Figures, *f)
		}
		sections = append(sections, section)
	}
	return sections, nil
}

func (r *runData) tables(sum *analysis.Summary) []report.Table {
	tables := analysis.Tables(sum)
	if r.tuned != nil {
		tables = append(tables, r.tuned.Brief())
	}
	return tables
}

// figure draws one figure of a trace and leaves it beside the page, as SVG and CSV.
func (r *runData) figure(ctx context.Context, s *streams, figure figureFile, trace string) (*page.Figure, error) {
	traces, done, err := openTraces(ctx, s, &input{}, []string{filepath.Join(r.folder, trace)})
	if err != nil {
		return nil, err
	}
	defer done()
	draw := func() (*plots.Chart, error) { return plots.Draw(figure.spec, traces) }
	if figure.made != nil {
		draw = func() (*plots.Chart, error) { return figure.made(traces[0]), nil }
	}
	chart, err := draw()
	if err != nil {
		return nil, fmt.Errorf("figure %s: %w", figure.name, err)
	}
	base := filepath.Join(r.folder, "report", figure.name)
	err = replaceFile(base+".svg", func(w io.Writer) error { return chart.WriteSVG(w, plots.Theme{}) })
	if err != nil {
		return nil, err
	}
	if err := replaceFile(base+".csv", chart.WriteCSV); err != nil {
		return nil, err
	}
	return &page.Figure{Chart: chart}, nil
}
