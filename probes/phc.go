package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// phcProbe reads a NIC's clock (PHC) between two readings of the system clock, or of
// another PHC, and sets neither. A reading is an exchange without a network: T1 and T4
// are the local clock before and after, T2 and T3 the PHC. So θ is the PHC minus the
// local clock, δ the width of the reading, and half of it bounds the error.
type phcProbe struct {
	way, against string
	samples      int
	utc          time.Duration
}

// mostReadings is what the kernel takes at one call: PTP_MAX_SAMPLES of linux/ptp_clock.h.
const mostReadings = 25

func bindPHC(fs *flag.FlagSet) func() (Probe, error) {
	p := phcProbe{}
	fs.StringVar(&p.way, "way", "auto", "how it is read: `auto` (the first of these that it has), precise, extended or basic")
	fs.StringVar(&p.against, "against", "", "another PHC, by `device` or interface, instead of the system clock")
	fs.IntVar(&p.samples, "samples", 9, "`readings` a sample, of which the narrowest counts")
	fs.DurationVar(&p.utc, "utc-offset", 0, "`time` that the PHC is ahead of UTC: 37s for one that counts TAI")
	return func() (Probe, error) {
		ways := append([]string{"auto"}, wayNames()...)
		switch {
		case !slices.Contains(ways, p.way):
			return nil, spec.Unknown("way", p.way, ways)
		case p.utc.Abs() >= 24*time.Hour:
			return nil, fmt.Errorf("utc-offset %q: want less than a day", spec.Duration(p.utc))
		case p.samples < 1 || p.samples > mostReadings:
			return nil, fmt.Errorf("samples %d: want 1 to %d", p.samples, mostReadings)
		}
		return p, nil
	}
}

// Kind returns Exchanges.
func (phcProbe) Kind() datasets.Kind { return datasets.Exchanges }

// TakesTarget is true: the target is /dev/ptpN or an interface whose stamps are its.
func (phcProbe) TakesTarget() bool { return true }

// Run reads the PHC as the plan's schedule says, once a second by default. A reading
// that fails is a row, and the reading goes on.
func (p phcProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) (err error) {
	s, err := newSchedule(plan, time.Second)
	if err != nil {
		return err
	}
	r := &phcReader{samples: p.samples, utc: p.utc}
	if r.clock, err = openPHC(target, p.way, p.samples); err != nil {
		return fmt.Errorf("phc: %w", err)
	}
	defer func() { err = errors.Join(err, r.clock.close()) }()
	if p.against != "" {
		if r.reference, err = openPHC(p.against, p.way, p.samples); err != nil {
			return fmt.Errorf("phc: %w", err)
		}
		defer func() { err = errors.Join(err, r.reference.close()) }()
	}
	epoch := time.Now().Add(lead)
	h := newHeader(datasets.Exchanges, target, r.clock.path, epoch, plan)
	setPlan(h, s, deadlines{fixed: plan.Deadline}, 0)
	setFacts(h, timerFact())
	setFacts(h, r.facts()...)
	// The kernel reads both clocks to the nanosecond; what that takes is in δ.
	h.SetDuration(datasets.KeyPrecision, time.Nanosecond)
	h.Extra = r.extra()
	if err := rec.Begin(h); err != nil {
		return err
	}
	return r.record(ctx, s, epoch, rec)
}

// facts say which clocks were read, and how.
func (r *phcReader) facts() []datasets.Field {
	local, way := "CLOCK_REALTIME", ""
	if r.reference != nil {
		local, way = r.reference.path, r.reference.way.name
	}
	facts := []datasets.Field{
		{Key: "local-clock", Value: local},
		{Key: "local-clock-way", Value: way},
		{Key: "phc", Value: r.clock.path},
		{Key: "phc-name", Value: r.clock.name},
		{Key: "phc-interfaces", Value: strings.Join(r.clock.interfaces, ",")},
		{Key: "phc-caps", Value: r.clock.caps},
		{Key: "way", Value: r.clock.way.name},
		{Key: "ways-refused", Value: r.clock.refused},
		{Key: datasets.KeyStamps, Value: "t1=" + r.source().String() + " t2,t3=hardware t4=" + r.source().String()},
		count("readings-a-sample", int64(r.samples)),
	}
	return slices.DeleteFunc(facts, func(f datasets.Field) bool { return f.Value == "" })
}
