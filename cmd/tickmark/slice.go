package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
)

// slicing is what a user wants of a trace.
type slicing struct {
	from, to string
	outcomes []string
	cause    string
}

func newSliceVerb(s *streams) *cobra.Command {
	h, want := &handOn{}, &slicing{}
	cmd := &cobra.Command{
		Use:   "slice TRACE",
		Short: "A part of a trace: by time, outcome or cause; a series by FILE#NAME",
		Long: `Times are durations from the trace's instant zero, or wall times (RFC 3339) where it has an epoch.
An attempt is where it was due. The header says what was cut, and the counts of the whole are left out.`,
		Example: `  tickmark slice --from 10s --to 20s api.trace -o part.trace
  tickmark slice --outcome late,timed-out api.trace
  tickmark slice --from 2026-03-01T10:00:00Z api.trace`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return h.one(cmd.Context(), s, args[0], want.part)
		},
	}
	h.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&want.from, "from", "", "the first `time` that is kept")
	f.StringVar(&want.to, "to", "", "the first `time` that is not")
	f.StringSliceVar(&want.outcomes, "outcome", nil, "keep these `outcomes` alone")
	f.StringVar(&want.cause, "cause", "", "keep pauses of this `cause` alone")
	return cmd
}

func (w *slicing) part(stream datasets.Stream) (*part, error) {
	h := stream.Header()
	from, err := sliceTime("from", w.from, h, -1<<62)
	if err != nil {
		return nil, err
	}
	to, err := sliceTime("to", w.to, h, 1<<62)
	if err != nil {
		return nil, err
	}
	var outcomes []datasets.Outcome
	for _, name := range w.outcomes {
		o, err := datasets.ParseOutcome(name)
		if err != nil {
			return nil, usagef("slice: --outcome %v", err)
		}
		outcomes = append(outcomes, o)
	}
	switch {
	case from >= to:
		return nil, usagef("slice: --from %s is not before --to %s", w.from, w.to)
	case w.cause != "" && h.Kind() != datasets.Pauses:
		return nil, usagef("slice: --cause is of pauses, and the trace has rows of kind %q", h.Kind())
	}
	if p, ok := stream.(datasets.Selective); ok {
		p.Between(from, to)
	}
	return &part{note: "slice", what: w.String(), keep: func(row datasets.Row) (bool, error) {
		return w.keeps(row, from, to, outcomes)
	}}, nil
}

func (w *slicing) keeps(row datasets.Row, from, to datasets.Instant, outcomes []datasets.Outcome) (bool, error) {
	at, timed := datasets.When(row)
	switch {
	case !timed && (w.from != "" || w.to != ""):
		return false, fmt.Errorf("slice: rows of kind %q have no time", row.Kind())
	case timed && (at < from || at >= to):
		return false, nil
	}
	if p, ok := row.(*datasets.Pause); ok && w.cause != "" && p.Cause != w.cause {
		return false, nil
	}
	if len(outcomes) == 0 {
		return true, nil
	}
	o, ok := datasets.OutcomeOf(row)
	if !ok {
		return false, fmt.Errorf("slice: rows of kind %q have no outcome", row.Kind())
	}
	return slices.Contains(outcomes, o), nil
}

// String is what was cut, for the header.
func (w *slicing) String() string {
	var said []string
	for _, f := range []struct{ name, value string }{
		{"from", w.from}, {"to", w.to}, {"outcome", strings.Join(w.outcomes, "|")}, {"cause", w.cause},
	} {
		if f.value != "" {
			said = append(said, f.name+"="+f.value)
		}
	}
	if len(said) == 0 {
		return "all"
	}
	return strings.Join(said, " ")
}

// sliceTime reads a duration from the instant zero, or a wall time.
func sliceTime(flag, text string, h *datasets.Header, none datasets.Instant) (datasets.Instant, error) {
	if text == "" {
		return none, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return datasets.Instant(d), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, usagef("slice: --%s %q: want a duration such as 10s, or a time such as 2026-03-01T10:00:00Z", flag, text)
	}
	epoch, ok := h.Epoch()
	if !ok {
		return 0, fmt.Errorf("slice: --%s %s: the trace has no epoch: want a duration from its instant zero", flag, text)
	}
	return datasets.Instant(t.Sub(epoch)), nil
}
