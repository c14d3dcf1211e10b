package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes"
	"github.com/tickmark/tickmark/probes/serve"
)

// mainJob is `tickmark run`: peers, self-test, measurement, report.
type mainJob struct {
	s         *streams
	folder    string
	duration  time.Duration
	ntp, echo string
	seed      uint64
	owned     bool
	ownNTP    bool // the NTP server is this process's
	ownEcho   bool // the echo is
}

// The freeze of the embedded echo peer: long enough to see, once.
const (
	freezeLength = 400 * time.Millisecond
	freezeAfter  = 0.4 // of the run
)

func newRunVerb(s *streams) *cobra.Command {
	job := &mainJob{s: s}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The main job: measure this host, replay, report",
		Long: `Measures NTP, UDP round trips, pauses and clocks side by side, replays timeouts over what was
measured, and writes a run folder with the traces and a report. Without --ntp and --echo it
starts its own peers on loopback, whose true offset is zero, and freezes the echo once.`,
		Example: `  tickmark run
  tickmark run -o monday --duration 1m
  tickmark run --ntp 192.0.2.1 --echo 192.0.2.7:9123`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if job.duration < time.Second {
				return usagef("run: --duration %s: want at least 1s", job.duration)
			}
			return job.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&job.folder, "output", "o", "", "the run's `folder` (default tickmark-run-TIME)")
	flags.DurationVar(&job.duration, "duration", 20*time.Second, "how long to measure")
	flags.StringVar(&job.ntp, "ntp", "", "NTP server to measure instead of an own one: `HOST[:PORT]`")
	flags.StringVar(&job.echo, "echo", "", "tickmark UDP echo to measure instead of an own one: `HOST:PORT`")
	flags.Uint64Var(&job.seed, "seed", 1, "seed of the embedded peers' faults")
	flags.BoolVar(&job.owned, "i-own-this-server", false, "probe a public NTP server faster than once in 2 s")
	return cmd
}

func (j *mainJob) run(ctx context.Context) error {
	began := time.Now()
	if j.folder == "" {
		j.folder = "tickmark-run-" + began.Format("20060102-150405")
	}
	if _, err := os.Stat(filepath.Join(j.folder, runFileName)); err == nil {
		return fmt.Errorf("%s: holds a run already: choose another folder", j.folder)
	}
	if err := checkEcho(j.echo); err != nil {
		return err
	}
	r := &runFile{Tickmark: version(), Created: began.UTC(), Command: j.command()}

	fmt.Fprintln(j.s.err, "self-test: 500 exchanges with an own NTP server on loopback, whose true offset is zero")
	test, err := runSelfTest(ctx, defaultMode())
	if err != nil {
		return fmt.Errorf("self-test: %w", err)
	}
	if err := keepSelfTests(began, test); err != nil {
		fmt.Fprintf(j.s.err, "self-test: its result could not be kept: %v\n", err)
	}
	if err := os.MkdirAll(j.folder, 0o755); err != nil {
		return plainPathError(err)
	}
	fmt.Fprintf(j.s.err, "self-test: %s\n", test.sentence())
	r.SelfTest = test.sentence()

	peers, err := j.startPeers()
	if err != nil {
		return err
	}
	r.OwnNTP, r.OwnEcho = j.ownNTP, j.ownEcho
	measured := j.measure(ctx, r, test.facts())
	r.Injected, err = peers.close()
	if err != nil {
		return err
	}
	if len(r.Traces) == 0 {
		os.Remove(filepath.Join(j.folder, runFileName))
		os.Remove(j.folder) // stays if anything else is in it
		return measured
	}
	if err := r.write(j.folder); err != nil {
		return err
	}
	// The report of what there is is made in any case.
	if err := reportRun(context.WithoutCancel(ctx), j.s, j.folder); err != nil {
		return errors.Join(measured, err)
	}
	fmt.Fprintf(j.s.err, "took %s\n", time.Since(began).Round(time.Second/10))
	return measured
}

// checkEcho refuses an echo that cannot be one before anything is measured.
func checkEcho(target string) error {
	if target == "" {
		return nil
	}
	if host, port, err := net.SplitHostPort(target); err != nil || host == "" || port == "" {
		return usagef("run: --echo %q: want HOST:PORT", target)
	}
	return nil
}

// command is what makes this run again.
func (j *mainJob) command() string {
	c := fmt.Sprintf("tickmark run --duration %s --seed %d", j.duration, j.seed)
	if j.ntp != "" {
		c += " --ntp " + j.ntp
	}
	if j.echo != "" {
		c += " --echo " + j.echo
	}
	if j.owned {
		c += " --i-own-this-server"
	}
	return c
}

// peers are the embedded servers of a run, in this process.
type peers struct{ ntp, echo *serve.Server }

// startPeers serves what the user named no target for. The two are served apart, so
// that a frozen echo leaves NTP alone.
func (j *mainJob) startPeers() (*peers, error) {
	j.ownNTP, j.ownEcho = j.ntp == "", j.echo == ""
	p := &peers{}
	var err error
	if j.ownNTP {
		if p.ntp, err = serve.Start(serve.Config{NTP: "127.0.0.1:0", Seed: j.seed}); err != nil {
			return nil, err
		}
		j.ntp = p.ntp.NTPAddr().String()
	}
	if j.ownEcho {
		after := time.Duration(freezeAfter * float64(j.duration)).Round(time.Millisecond)
		freeze, _, err := serve.Faults().Parse("fault", fmt.Sprintf("freeze:after=%s,every=1h,for=%s,times=1", after, freezeLength))
		if err != nil {
			return nil, err
		}
		if p.echo, err = serve.Start(serve.Config{UDP: "127.0.0.1:0", Seed: j.seed, Faults: []serve.Fault{freeze}}); err != nil {
			return nil, err
		}
		j.echo = p.echo.UDPAddr().String()
	}
	return p, nil
}

// close ends the peers and tells what was injected.
func (p *peers) close() (injected []injection, err error) {
	if p.ntp != nil {
		err = p.ntp.Close()
	}
	if p.echo == nil {
		return nil, err
	}
	err = errors.Join(err, p.echo.Close())
	for _, f := range p.echo.Stats().UDP.Freezes {
		injected = append(injected, injection{"the embedded echo peer was frozen on purpose", f.Start, f.Length})
	}
	return injected, err
}

// measurement is one probe of the run.
type measurement struct {
	name, spec, target string
	interval           time.Duration
}

// plan gives each probe as many attempts as its quantiles need: 400 exchanges for a
// p99 of |θ| (368), 4,000 round trips for a p99.9 (3,688) in 20 s.
func (j *mainJob) plan() []measurement {
	return []measurement{
		{"ntp", "ntp", j.ntp, j.ntpInterval()},
		{"udp", "udp", j.echo, 5 * time.Millisecond},
		{"pause", "pause", "", 0},
		{"clock", "clock", "", 100 * time.Millisecond},
	}
}

// ntpInterval is short for an embedded server and the probe's own choice, which
// knows what a public server allows, for any other.
func (j *mainJob) ntpInterval() time.Duration {
	if j.ownNTP || j.owned {
		return 50 * time.Millisecond
	}
	return 0
}

func (j *mainJob) measure(ctx context.Context, r *runFile, facts []datasets.Field) error {
	plan := j.plan()
	names := make([]string, len(plan))
	for i, m := range plan {
		names[i] = m.name
	}
	r.expect(names)
	if err := r.write(j.folder); err != nil {
		return err
	}
	recs := make([]*recorder, len(plan))
	for i, m := range plan {
		rec, err := recordTo(filepath.Join(j.folder, m.name+".trace"), j.s)
		if err != nil {
			return err
		}
		recs[i] = rec
	}
	fmt.Fprintf(j.s.err, "measuring for %s: NTP at %s, UDP echo at %s, pauses, clocks\n", j.duration, j.ntp, j.echo)
	began := time.Now()
	done := showProgress(ctx, j.s.err, "measuring (ms)", j.duration.Milliseconds(), func() int64 {
		return min(time.Since(began), j.duration).Milliseconds()
	})
	errs := make([]error, len(plan))
	var wg sync.WaitGroup
	for i, m := range plan {
		wg.Go(func() { errs[i] = j.measureOne(ctx, m, recs[i], facts) })
	}
	wg.Wait()
	done()
	for i, m := range plan {
		if err := r.keep(j.folder, m.name, recs[i], errs[i]); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		fmt.Fprintf(j.s.err, "stopped after %s: %s kept in %s\n",
			time.Since(began).Round(time.Second/10), counted(int64(len(r.Traces)), "trace"), j.folder)
		return errInterrupted
	}
	return couldNot(errs)
}

// couldNot joins what probes could not do. What this system does not have is told in
// the report, and is no failure of the run.
func couldNot(errs []error) error {
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		return err == nil || errors.Is(err, errors.ErrUnsupported)
	})...)
}

func (j *mainJob) measureOne(ctx context.Context, m measurement, rec *recorder, facts []datasets.Field) error {
	p, canonical, err := probes.Probes().Parse("probe", m.spec)
	if err != nil {
		return err
	}
	plan := probes.Plan{Interval: m.interval, Duration: j.duration, Owned: j.owned, Facts: toolFacts(canonical)}
	if p.Kind() == datasets.Exchanges {
		plan.Facts = append(plan.Facts, facts...) // the self-test is of θ
	}
	return p.Run(ctx, m.target, plan, rec)
}
