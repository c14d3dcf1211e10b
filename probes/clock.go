package probes

import (
	"context"
	"flag"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// clock reads this host's four clocks together, so that a step (REALTIME against
// MONOTONIC), a slew (MONOTONIC against MONOTONIC_RAW) and a suspend (BOOTTIME
// against MONOTONIC) show. It sets none of them.
type clock struct{}

func bindClock(*flag.FlagSet) func() (Probe, error) {
	return func() (Probe, error) { return clock{}, nil }
}

// Kind returns Clocks.
func (clock) Kind() datasets.Kind { return datasets.Clocks }

// TakesTarget is false: this host is measured.
func (clock) TakesTarget() bool { return false }

// Run reads the clocks as the plan's schedule says, every 100 ms by default. On
// systems without the four clocks its error is errors.ErrUnsupported.
func (clock) Run(ctx context.Context, _ string, plan Plan, rec Recorder) error {
	s, err := newSchedule(plan, 100*time.Millisecond)
	if err != nil {
		return err
	}
	r, err := newClockReader()
	if err != nil {
		return err
	}
	h := newHeader(datasets.Clocks, "", "", r.epoch, plan)
	setPlan(h, s, deadlines{}, 0)
	setFacts(h, timerFact())
	step, cost := r.fineness()
	h.SetDuration("smallest-step", step)
	h.SetDuration("reading-cost", cost)
	h.SetDuration(datasets.KeyPrecision, step+cost)
	for _, f := range r.resolutions() {
		h.Set(f.Key, f.Value)
	}
	if err := rec.Begin(h); err != nil {
		return err
	}
	return r.watch(ctx, s, rec)
}
