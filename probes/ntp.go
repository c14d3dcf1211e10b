package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ntpProbe asks an NTP server for the time, one attempt after another, and keeps the
// four raw stamps of each.
//
// T1 is taken by the user just before the send and T4 by the kernel where it can:
// that pairs the request, which the server's kernel stamps on arrival, with the
// reply, which the server stamps before sending it. In interleaved mode the server
// tells later when its kernel or hardware really sent the reply; then T1 is of that
// kind too. The sources of T2 and T3 are not on the wire: they are recorded as user,
// and an interleaved T3 as kernel.
//
// Sent and Elapsed are monotonic, read next to the send and the receive. Elapsed is
// T4−T1 and the stall, the time the reply waited to be read.
type ntpProbe struct {
	port, version, ntsPort           int
	family, engine, mode, stamps, ca string
	nts                              bool
}

func bindNTP(fs *flag.FlagSet) func() (Probe, error) {
	p := ntpProbe{}
	fs.IntVar(&p.port, "port", 123, "`port` of a target that names none")
	fs.IntVar(&p.version, "version", 4, "NTP `version`, 3 or 4")
	fs.StringVar(&p.family, "family", "any", "addresses of a target that is a name: `any`, 4 or 6")
	fs.StringVar(&p.engine, "engine", "auto", "`auto`, precise (own exchange, Linux) or portable (beevik/ntp)")
	fs.StringVar(&p.mode, "mode", "basic", "`basic` or interleaved (RFC 9769)")
	fs.StringVar(&p.stamps, "stamps", "auto", "who stamps T1 and T4: `auto` (of the server's kind), user, kernel or hardware")
	fs.BoolVar(&p.nts, "nts", false, "authenticate by Network Time Security (RFC 8915)")
	fs.IntVar(&p.ntsPort, "nts-port", 4460, "`port` of the NTS handshake")
	fs.StringVar(&p.ca, "ca", "", "`file` of the certificates to trust in it instead of the system's")
	return func() (Probe, error) { return p, p.check() }
}

func (p ntpProbe) check() error {
	switch {
	case p.port < 1 || p.port > 65535:
		return errors.New("port must be from 1 to 65535")
	case p.ntsPort < 1 || p.ntsPort > 65535:
		return errors.New("nts-port must be from 1 to 65535")
	case p.version != 3 && p.version != 4:
		// The library's experimental version 5 panics on a reply that ends in a
		// 4-byte extension field of length zero.
		return fmt.Errorf("version %d: want 3 or 4", p.version)
	case p.nts && p.version != 4:
		return errors.New("version 3 has no nts")
	}
	return p.checkWords()
}

// checkWords refuses a choice that is none.
func (p ntpProbe) checkWords() error {
	for _, o := range []struct {
		name, value string
		words       []string
	}{
		{"family", p.family, []string{"any", "4", "6"}},
		{"engine", p.engine, []string{"auto", "precise", "portable"}},
		{"mode", p.mode, []string{"basic", "interleaved"}},
		{"stamps", p.stamps, []string{"auto", "user", "kernel", "hardware"}},
	} {
		if !slices.Contains(o.words, o.value) {
			return fmt.Errorf("%s %q: want %s", o.name, o.value, either(o.words))
		}
	}
	if p.interleaved() && p.stamps == "user" {
		return errors.New("mode=interleaved is for stamps that are not the user's: leave out stamps=user")
	}
	return nil
}

func (p ntpProbe) interleaved() bool { return p.mode == "interleaved" }

// Kind returns Exchanges.
func (ntpProbe) Kind() datasets.Kind { return datasets.Exchanges }

// TakesTarget is true: the target is a host, host:port, or an IPv6 address, with or
// without brackets.
func (ntpProbe) TakesTarget() bool { return true }

// Run asks as often as the plan says: every 2 s by default, and every 100 ms a
// server that is the user's own, by its address (loopback, private, link-local) or
// by the plan. It listens 1 s for each answer, which is awaited before the next
// attempt is made; due times that pass meanwhile are skipped and counted.
//
// A kiss-o'-death is obeyed (RFC 5905 §7.4): RATE doubles the interval, to 2 s at
// least, DENY and RSTR end the recording, and the trailer says so.
func (p ntpProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) (err error) {
	listen, err := listenFor(plan, time.Second)
	if err != nil {
		return err
	}
	remote, err := p.remote(ctx, target, listen)
	if err != nil {
		return fmt.Errorf("ntp: %w", err)
	}
	s, err := ntpSchedule(remote.Addr(), plan)
	if err != nil {
		return err
	}
	engine, err := p.newEngine(ctx, target, remote, plan, listen)
	if err != nil {
		return fmt.Errorf("ntp: %w", err)
	}
	defer func() { err = errors.Join(err, engine.close()) }()
	epoch := time.Now().Add(lead)
	if err := rec.Begin(p.header(target, engine.means(), epoch, s, plan, listen)); err != nil {
		return err
	}
	run := &exchangeRun{
		with: &ntpAsker{engine: engine, order: interleaving{on: p.interleaved()}}, epoch: epoch, listen: listen, deadline: plan.Deadline,
		pace: ntpPace{schedule: s, gap: ntpGap(remote.Addr(), plan), due: s.phase},
	}
	return run.record(ctx, rec)
}

func (p ntpProbe) header(target string, m ntpMeans, epoch time.Time, s schedule, plan Plan, listen time.Duration) *datasets.Header {
	h := newHeader(datasets.Exchanges, target, m.remote.String(), epoch, plan)
	setPlan(h, s, deadlines{fixed: plan.Deadline}, listen)
	setFacts(h, runtimeTimerFact())
	h.Set("local", m.local.String())
	h.Set("engine", m.engine)
	h.Set(datasets.KeyStamps, m.stamps())
	h.Set("local-clock", m.clock)
	setFacts(h, append(pathFacts(m.remote.Addr()), m.facts...)...)
	if m.t4 != datasets.Hardware { // of a NIC's stamps nothing is known
		h.SetDuration(datasets.KeyPrecision, clockPrecision())
	}
	return h
}
