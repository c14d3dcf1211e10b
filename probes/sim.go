package probes

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/gen"
)

// sim measures nothing: it makes round trips whose truth is known, in no time, and writes
// it into the header. The same spec and plan make the same bytes, on any host.
type sim struct {
	world gen.World
}

func bindSim(fs *flag.FlagSet) func() (Probe, error) {
	var w gen.World
	latency := fs.String("latency", "lognormal", "`distribution`, options in brackets: "+strings.Join(gen.Latencies().Names(), ", "))
	fs.Float64Var(&w.Memory, "memory", 0, "`autocorrelation` of a latency with the next one, AR(1)")
	fs.Float64Var(&w.Hurst, "hurst", 0, "`exponent` of a long memory, 0.5 to 1")
	fs.StringVar(&w.Pauses.Kind, "pauses", "none", "`kind` of stops of the server: "+strings.Join(gen.PauseKinds(), ", "))
	fs.DurationVar(&w.Pauses.Every, "every", time.Minute, "`distance` of two stops")
	fs.DurationVar(&w.Pauses.Length, "for", 400*time.Millisecond, "`length` of a stop")
	fs.Float64Var(&w.Loss, "loss", 0, "`share` of the calls that are never answered")
	fs.Float64Var(&w.Burst, "burst", 1, "mean `length` of a run of them (Gilbert–Elliott)")
	fs.Float64Var(&w.Swing, "swing", 0, "`share` by which the level goes up and down")
	fs.DurationVar(&w.Period, "period", 24*time.Hour, "`time` of one swing")
	fs.DurationVar(&w.RouteAt, "route-at", 0, "`when` the route changes")
	fs.DurationVar(&w.RouteBy, "route-by", 0, "how much `longer` it is then")
	fs.DurationVar(&w.GST, "gst", 0, "the `time` before which nothing is bounded")
	fs.DurationVar(&w.Delta, "delta", 0, "the `longest` that a call takes after gst")
	fs.Uint64Var(&w.Seed, "seed", 1, "`seed` of everything")
	return func() (Probe, error) {
		name, options, _ := strings.Cut(strings.TrimSuffix(*latency, ")"), "(")
		if options != "" {
			name += ":" + strings.ReplaceAll(options, ";", ",")
		}
		l, _, err := gen.Latencies().Parse("latency", name)
		if err != nil {
			return nil, err
		}
		w.Latency = l
		if _, err := w.New(); err != nil {
			return nil, err
		}
		return sim{w}, nil
	}
}

// Kind returns RTT.
func (sim) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is false: there is none.
func (sim) TakesTarget() bool { return false }

// Run makes the calls that the plan's schedule asks for, every millisecond by default.
func (p sim) Run(ctx context.Context, _ string, plan Plan, rec Recorder) error {
	interval := cmp.Or(max(plan.Interval, 0), time.Millisecond)
	if plan.Count == 0 && plan.Duration == 0 {
		return errors.New("sim: has no end by itself: want --count or --duration")
	}
	listen, ok := plan.Listen.Value()
	if !ok {
		listen = time.Minute
	}
	calls, err := p.world.New()
	if err != nil {
		return err
	}
	if err := rec.Begin(p.header(plan, interval, listen)); err != nil {
		return err
	}
	n, most := int64(0), attempts(plan, interval)
	for ; n < most; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			break
		}
		s := datasets.Sample{Seq: n, Call: n, Attempt: 1, Due: datasets.Instant(time.Duration(n) * interval), Inflight: 1, Deadline: plan.Deadline}
		s.Sent = s.Due
		if took, answered := calls.Next(time.Duration(s.Due)); answered && took <= listen {
			s.Elapsed, s.Outcome, s.Copies = took, datasets.Judge(took, plan.Deadline), 1
		} else {
			s.Outcome = datasets.TimedOut
		}
		if err := rec.Record(&s); err != nil {
			return err
		}
	}
	return rec.End(datasets.Field{Key: "made", Value: fmt.Sprint(n)})
}

// attempts is how many the plan asks for.
func attempts(plan Plan, interval time.Duration) int64 {
	most := int64((plan.Duration + interval - 1) / interval)
	if plan.Duration == 0 || plan.Count > 0 && plan.Count < most {
		return plan.Count
	}
	return most
}

// header has nothing of this host and of the time of day: the bytes are the seed's.
func (p sim) header(plan Plan, interval, listen time.Duration) *datasets.Header {
	h := &datasets.Header{}
	h.Set(datasets.KeyKind, string(datasets.RTT))
	for _, f := range plan.Facts {
		if f.Key == datasets.KeyProbe || f.Key == datasets.KeyTool {
			h.Set(f.Key, f.Value)
		}
	}
	h.Set(datasets.KeyTarget, "sim")
	h.Set(datasets.KeySchedule, "every "+interval.String())
	h.SetDuration(datasets.KeyListen, listen)
	for _, f := range p.world.Truth() {
		h.Set(f.Key, f.Value)
	}
	return h
}
