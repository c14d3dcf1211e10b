package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
)

type probeFlags struct {
	plan             probes.Plan
	deadline, listen time.Duration
	rate             float64
	flows            int
	file             string
}

// Rates that make sense: from one attempt in eleven days to more than one sender can
// keep up with.
const (
	minRate = 1e-6
	maxRate = 1e6
	// mostFlows is more than there are equal paths between two hosts anywhere.
	mostFlows = 1024
)

func newProbeVerb(s *streams) *cobra.Command {
	f := &probeFlags{}
	cmd := &cobra.Command{
		Use:   "probe SPEC [TARGET...]",
		Short: "Measure and record: " + strings.Join(probes.Probes().Names(), ", "),
		Long: `Measures until the count or the duration is reached, or Ctrl-C, and records every attempt.
Without -o the trace goes to standard output; with several targets or flows -o is a folder.
"tickmark list options" says what the options of each probe choose between.`,
		Example: `  tickmark probe ntp -o a.trace --count 500 192.0.2.1
  tickmark probe udp -o b.trace --duration 1m --interval 5ms 192.0.2.7:9123
  tickmark probe ntp:mode=interleaved -o flows --flows 8 --duration 1m 192.0.2.1
  tickmark probe pause --duration 10s | tickmark show -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args[0], args[1:]) },
	}
	completeFirst(cmd, probes.Probes().Names())
	flags := cmd.Flags()
	flags.Int64Var(&f.plan.Count, "count", 0, "stop after this `number` of attempts (0: no limit)")
	flags.DurationVar(&f.plan.Interval, "interval", 0, "`time` between attempts (0: the probe's own)")
	flags.Float64Var(&f.rate, "rate", 0, "`attempts` a second, instead of --interval")
	flags.DurationVar(&f.plan.Duration, "duration", 0, "stop after this `time` (0: no limit)")
	flags.DurationVar(&f.deadline, "deadline", 0, "an answer after this `time` is late; it is still recorded (0: each attempt its own, staggered from half of --listen to all of it)")
	flags.DurationVar(&f.listen, "listen", 0, "listen for an answer this `time` (0: the probe's own)")
	flags.IntVar(&f.flows, "flows", 1, "measure from this `number` of source ports at once: what differs is the paths' doing")
	flags.BoolVar(&f.plan.AllowNICConfig, "allow-nic-config", false, "switch hardware stamps on at the NIC, and back at the end (needs cap_net_admin)")
	flags.BoolVar(&f.plan.Owned, "i-own-this-server", false, "probe a public server faster than once in 2 s")
	flags.StringVarP(&f.file, "output", "o", "", "record to this `file` (.gz, .zst compress), or folder for several targets")
	return cmd
}

func (f *probeFlags) run(cmd *cobra.Command, s *streams, text string, targets []string) error {
	p, canonical, err := probes.Probes().Parse("probe", text)
	if err != nil {
		return err
	}
	if err := f.check(p, text, targets); err != nil {
		return err
	}
	f.plan.Facts = toolFacts(canonical)
	facts, doubt := selfTestFacts(time.Now(), canonical)
	f.plan.Facts = append(f.plan.Facts, facts...)
	if doubt != "" {
		fmt.Fprintf(s.err, "self-test: %s\n", doubt)
	}
	if doubt := probes.DeadlineDoubt(f.plan); doubt != "" && p.Kind() == datasets.RTT {
		fmt.Fprintf(s.err, "probe: %s\n", doubt)
	}
	if f.file == "-" {
		f.file = ""
	}
	if len(targets) > 1 || f.flows > 1 {
		return f.runAll(cmd.Context(), s, p, f.jobs(targets))
	}
	target := strings.Join(targets, "")
	return f.runOne(cmd.Context(), s, p, target)
}

// toolFacts is what every header says of the tool and the probe it was asked for.
func toolFacts(canonical string) []datasets.Field {
	return []datasets.Field{
		{Key: datasets.KeyTool, Value: "tickmark " + version()},
		{Key: datasets.KeyProbe, Value: canonical},
	}
}

func (f *probeFlags) check(p probes.Probe, text string, targets []string) error {
	switch {
	case p.TakesTarget() && len(targets) == 0:
		return usagef("probe: %s needs a TARGET", text)
	case !p.TakesTarget() && len(targets) > 0:
		return usagef("probe: %s measures this host and takes no TARGET, got %q", text, targets[0])
	case f.flows < 1 || f.flows > mostFlows:
		return usagef("probe: --flows %d: want 1 to %d", f.flows, mostFlows)
	case f.flows > 1 && !p.TakesTarget():
		return usagef("probe: %s measures this host: there is no path to take --flows of", text)
	}
	if err := f.checkFile(len(targets)); err != nil {
		return err
	}
	return f.fillPlan()
}

// checkFile wants a folder for what makes several traces.
func (f *probeFlags) checkFile(targets int) error {
	switch {
	case targets > 1 && f.file == "":
		return usagef("probe: %d targets need -o FOLDER, one trace each", targets)
	case f.flows > 1 && f.file == "":
		return usagef("probe: %d flows need -o FOLDER, one trace each", f.flows)
	}
	return checkTraceName("probe", f.file)
}

// fillPlan takes the times into the plan; zero leaves each to the probe.
func (f *probeFlags) fillPlan() error {
	for _, t := range []time.Duration{f.plan.Interval, f.plan.Duration, f.deadline, f.listen} {
		if t < 0 {
			return usagef("probe: %s: a time must not be negative", t)
		}
	}
	switch {
	case f.plan.Interval > 0 && f.plan.Interval < time.Microsecond:
		return usagef("probe: --interval %s: want at least 1µs", f.plan.Interval)
	case f.plan.Count < 0:
		return usagef("probe: --count %d: must not be negative", f.plan.Count)
	case f.deadline > 0 && f.listen > 0 && f.listen < f.deadline:
		return usagef("probe: --listen %s is shorter than --deadline %s", f.listen, f.deadline)
	}
	if f.deadline > 0 {
		f.plan.Deadline = datasets.Some(f.deadline)
	}
	if f.listen > 0 {
		f.plan.Listen = datasets.Some(f.listen)
	}
	return f.useRate()
}

// useRate turns --rate into the interval it means.
func (f *probeFlags) useRate() error {
	switch {
	case f.rate == 0:
		return nil
	case !(f.rate >= minRate && f.rate <= maxRate):
		return usagef("probe: --rate %g: want %g to %g a second", f.rate, float64(minRate), float64(maxRate))
	case f.plan.Interval > 0:
		return usagef("probe: --rate and --interval say the same thing: give one")
	}
	f.plan.Interval = time.Duration(float64(time.Second) / f.rate)
	return nil
}

func (f *probeFlags) runOne(ctx context.Context, s *streams, p probes.Probe, target string) error {
	rec, err := newRecorder("standard output", s.out)
	if f.file != "" {
		rec, err = recordTo(f.file, s)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	done := showProgress(ctx, s.err, "measuring", f.plan.Count, rec.rows.Load)
	err = p.Run(ctx, target, f.plan, rec)
	done()
	if closed := rec.Close(); err == nil {
		err = closed
	}
	where := f.file
	if where == "" {
		where = "standard output"
	}
	return told(ctx, s, err, time.Since(began), rec.rows.Load(), where)
}

// told says what was kept, and turns a finished context into errInterrupted.
func told(ctx context.Context, s *streams, err error, took time.Duration, rows int64, where string) error {
	if err != nil && !errors.Is(err, context.Canceled) {
		if err = renamed(where, err); rows > 0 {
			err = fmt.Errorf("%w (%s kept in %s)", err, counted(rows, "sample"), where)
		}
		return err
	}
	took = took.Round(time.Second / 10)
	if ctx.Err() != nil {
		fmt.Fprintf(s.err, "stopped after %s: %s kept in %s\n", took, counted(rows, "sample"), where)
		return errInterrupted
	}
	fmt.Fprintf(s.err, "%s in %s kept in %s\n", counted(rows, "sample"), took, where)
	return nil
}

// counted writes "1 sample" or "1,200 samples".
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.Count(n) + " " + noun + "s"
}

// probeJob is one of several recordings made side by side.
type probeJob struct {
	target, file string
	flow         probes.Flow
}

// jobs are a recording of each flow of each target.
func (f *probeFlags) jobs(targets []string) []probeJob {
	var jobs []probeJob
	for _, target := range targets {
		if f.flows == 1 {
			jobs = append(jobs, probeJob{target: target, file: fileName(target)})
			continue
		}
		for n := 1; n <= f.flows; n++ {
			name := fmt.Sprintf("%s-flow-%d", fileName(target), n)
			jobs = append(jobs, probeJob{target, name, probes.Flow{Number: n, Of: f.flows}})
		}
	}
	return jobs
}

// runAll makes all recordings side by side, each into a trace of its own; what one
// could not do does not stop the others.
func (f *probeFlags) runAll(ctx context.Context, s *streams, p probes.Probe, jobs []probeJob) error {
	if err := os.MkdirAll(f.file, 0o755); err != nil {
		return plainPathError(err)
	}
	recs := make([]*recorder, len(jobs))
	for i, job := range jobs {
		rec, err := recordTo(filepath.Join(f.file, job.file+".trace"), s)
		if err != nil {
			return err
		}
		recs[i] = rec
		defer rec.Close()
	}
	rows := func() (n int64) {
		for _, r := range recs {
			n += r.rows.Load()
		}
		return n
	}
	began := time.Now()
	done := showProgress(ctx, s.err, "measuring", f.plan.Count*int64(len(jobs)), rows)
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		plan := f.plan
		plan.Flow = job.flow
		wg.Go(func() { errs[i] = p.Run(ctx, job.target, plan, recs[i]) })
	}
	wg.Wait()
	done()
	return told(ctx, s, errors.Join(errs...), time.Since(began), rows(), f.file)
}

// fileName makes a target safe as a name of a file.
func fileName(target string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|[] `, r) || r < ' ' {
			return '-'
		}
		return r
	}, target), "-")
}
