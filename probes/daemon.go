package probes

import (
	"context"
	"errors"
	"flag"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/daemon"
)

// daemonProbe records what a time daemon claims of this host's clock, over and over, so
// that an audit can hold it against what was measured at the same time. It sets nothing.
type daemonProbe struct{}

func bindDaemon(*flag.FlagSet) func() (Probe, error) {
	return func() (Probe, error) { return daemonProbe{}, nil }
}

// Kind returns Claims.
func (daemonProbe) Kind() datasets.Kind { return datasets.Claims }

// TakesTarget is true: the target is NAME or NAME@ADDRESS, daemon.Daemons has the names.
func (daemonProbe) TakesTarget() bool { return true }

// Run asks as often as the plan says, every second by default, and gives the daemon 1 s
// to answer each time. A daemon that cannot be reached at the start is an error; one that
// stops to answer later is a row that says so, each time.
func (daemonProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) (err error) {
	listen, err := listenFor(plan, time.Second)
	if err != nil {
		return err
	}
	s, err := newSchedule(plan, time.Second)
	if err != nil {
		return err
	}
	d, err := daemon.Open(ctx, target, listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	epoch := time.Now().Add(lead)
	h := newHeader(datasets.Claims, target, d.Place, epoch, plan)
	setPlan(h, s, deadlines{}, listen)
	setFacts(h, timerFact())
	h.Set("daemon", d.Name)
	if d.Lost != "" {
		h.Set(datasets.KeyLost, d.Lost)
	}
	if err := rec.Begin(h); err != nil {
		return err
	}
	watch := &daemonWatch{daemon: d, epoch: epoch, listen: listen}
	return watch.record(ctx, s, rec)
}

// daemonWatch is one recording of one daemon.
type daemonWatch struct {
	daemon       *daemon.Found
	epoch        time.Time
	listen       time.Duration
	late, asking spread
	skipped      int64 // due times that passed while it was still being asked
	unanswered   int64
	unfinished   int64
}

func (w *daemonWatch) record(ctx context.Context, s schedule, rec Recorder) error {
	sleeper := newSleeper()
	defer sleeper.close()
	for _, due := range s.all() {
		at := w.epoch.Add(time.Duration(due))
		if !sleeper.until(ctx, at) || ctx.Err() != nil {
			break
		}
		lateness := time.Since(at)
		if lateness >= s.interval { // a claim is of now: there is nothing to catch up
			w.skipped++
			continue
		}
		w.late.add(lateness)
		r := w.ask(ctx)
		if ctx.Err() != nil { // what was claimed until then is not the whole of it
			w.unfinished++
			break
		}
		for _, c := range r.Claims {
			if err := rec.Record(c); err != nil {
				return err
			}
		}
	}
	return rec.End(w.trailer()...)
}

// ask asks once. A daemon that says nothing is unreachable, and that is what is recorded.
func (w *daemonWatch) ask(ctx context.Context) *daemon.Reading {
	limited, stop := context.WithTimeout(ctx, w.listen)
	defer stop()
	r := daemon.NewReading(w.now)
	began := time.Now()
	err := w.daemon.Ask(limited, r)
	if ctx.Err() != nil {
		return r
	}
	w.asking.add(time.Since(began))
	if err != nil {
		w.unanswered++
		c := &datasets.Claim{Source: w.daemon.Name, Status: datasets.Unreachable, Why: err.Error()}
		c.At, c.Wall = w.now()
		r.Claims = append(r.Claims, c)
	}
	return r
}

func (w *daemonWatch) now() (datasets.Instant, datasets.Stamp) {
	now := time.Now()
	return datasets.Instant(now.Sub(w.epoch)), datasets.StampTime(now, datasets.Local, datasets.User)
}

func (w *daemonWatch) trailer() []datasets.Field {
	fields := append(w.asking.fields("asking"), w.late.fields("lateness")...)
	return append(fields, count("readings", w.asking.n), count("skipped", w.skipped),
		count("unanswered", w.unanswered), count(datasets.KeyUnfinished, w.unfinished))
}
