package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// The two timeouts that every tune of the default sweep compares in words: one that
// a freeze breaks, and one that outlasts most.
const (
	shortTimeout = 50 * time.Millisecond
	longTimeout  = 500 * time.Millisecond
)

type tuneFlags struct {
	in           input
	out          output
	estimators   []string
	share        string
	maxDetection time.Duration
	force        bool
}

func newTuneVerb(s *streams) *cobra.Command {
	f := &tuneFlags{}
	cmd := &cobra.Command{
		Use:   "tune TRACE",
		Short: "Which timeout: false positives against detection time, and a recommendation",
		Long: `Replays the trace through timeout estimators, as their caller would have learned of each
answer, and says what each would have done. The trace is taken as it is (level L0): a timeout
that fires changes nothing in it.`,
		Example: `  tickmark tune api.trace
  tickmark tune --max-false-positives 0.1% --max-detection 500ms api.trace
  tickmark tune --estimator fixed:after=50ms --fail-if 'false_positives_iid_hi > 0.1%' api.trace`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), s, args[0]) },
	}
	f.in.flags(cmd)
	f.out.flags(cmd)
	f.out.gateFlag(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.estimators, "estimator", nil, "try this `spec` instead of the default sweep (tickmark list estimators); repeatable")
	complete(cmd, "estimator", adaptive.Estimators().Names())
	flags.StringVar(&f.share, "max-false-positives", "", "allow this `share` of false positives, such as 0.1%, by the upper limit")
	flags.BoolVar(&f.force, "force", false, "tune also a recording that does not follow its own schedule, because we could not keep up")
	flags.DurationVar(&f.maxDetection, "max-detection", 0, "notice a dead peer within this `time` (p99)")
	return cmd
}

func (f *tuneFlags) goal() (adaptive.Goal, error) {
	var g adaptive.Goal
	if f.share != "" {
		share, err := spec.ParseRatio(f.share)
		if err != nil || share < 0 || share >= 1 {
			return g, usagef("tune: --max-false-positives %q: want a share such as 0.1%%", f.share)
		}
		g.MaxFalsePositives = datasets.Some(share)
	}
	if f.maxDetection < 0 {
		return g, usagef("tune: --max-detection %s: must not be negative", f.maxDetection)
	} else if f.maxDetection > 0 {
		g.MaxDetection = datasets.Some(f.maxDetection)
	}
	return g, nil
}

func (f *tuneFlags) run(ctx context.Context, s *streams, path string) error {
	goal, err := f.goal()
	if err != nil {
		return err
	}
	if _, err := adaptive.NewTuner(f.estimators, 0); err != nil {
		return err
	}
	f.out.canonicalRows()
	rows, done, err := f.in.open(ctx, s, path)
	if err != nil {
		return err
	}
	defer done()
	if err := wantKind(path, rows.Header(), "tune", datasets.RTT, datasets.Exchanges); err != nil {
		return err
	}
	tuned, err := tuneTrace(rows, f.estimators, goal, nil)
	if err != nil {
		return err
	}
	if unfit, ok := rows.Header().Value(datasets.KeyUnfit); ok {
		if !f.force {
			return fmt.Errorf("%s: unfit: %s; a timeout from it would be ours, not the network's (measure again at a lower rate, or --force)", displayName(path), unfit)
		}
		tuned.Warnings = append(tuned.Warnings, displayName(path)+": unfit: "+unfit)
	}
	headline := tuned.Headline()
	if len(f.estimators) == 0 {
		headline = append(headline, tuned.comparison.Sentences()...)
	}
	f.out.brief = []report.Table{tuned.Brief()}
	return f.out.write(s, "tune", headline, tuned.Warnings, tuned.Table())
}

// tuned is a tuning and the comparison of the two usual timeouts, from one pass.
type tuned struct {
	*adaptive.Tuning
	comparison adaptive.Comparison
}

// tuneTrace replays a trace of round trips to its end. Freezes are what is known to
// have held calls up, on the trace's clock.
func tuneTrace(rows datasets.Stream, specs []string, goal adaptive.Goal, freezes []adaptive.Span) (*tuned, error) {
	listen, _ := rows.Header().Duration(datasets.KeyListen)
	tuner, err := adaptive.NewTuner(specs, listen)
	if err != nil {
		return nil, err
	}
	usual := adaptive.NewWhatIf(shortTimeout, longTimeout, listen)
	datasets.Only(rows, adaptive.Columns()...)
	var sample datasets.Sample
	for rows.Next(&sample) {
		tuner.Add(&sample)
		usual.Add(&sample)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	t := adaptive.Decide(tuner.Finish(), goal)
	t.Warnings = append(rows.Warnings(), t.Warnings...)
	return &tuned{t, usual.Finish(freezes)}, nil
}

// canonicalRows lets a gate name an estimator as --estimator does; the table has it in
// canonical form.
func (o *output) canonicalRows() {
	for i, g := range o.gates {
		if _, canonical, err := adaptive.Estimators().Parse("estimator", g.Row); err == nil {
			o.gates[i].Row = canonical
		}
	}
}
