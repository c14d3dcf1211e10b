package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// ptpProbe compares the local clock with a PTP master's, end to end, and steers
// nothing. An exchange is a Delay_Req of ours and a Sync of the master's: T1 the
// departure of the one and T2 its arrival there, T3 the departure of the other and T4
// its arrival here. So θ and δ mean what they mean for NTP.
//
// T1 and T4 are by the kernel, or by the NIC and then by its own clock. Who stamped T2
// and T3 is not on the wire: a master stamps both where it stamps T1 and T4 of its own
// slaves, in the kernel or the hardware, and the user may say which.
type ptpProbe struct {
	mode, delay, stamps, server, utc string
	domain                           int
	fixed                            datasets.Optional[time.Duration] // of utc, if that is a time
	shared                           *ptpShared
}

func bindPTP(fs *flag.FlagSet) func() (Probe, error) {
	p := ptpProbe{}
	fs.StringVar(&p.mode, "mode", "auto", "`auto` (sptp or else unicast), unicast (ptp4l), sptp (ptp4u) or listen (interface or capture file)")
	fs.StringVar(&p.delay, "delay", "e2e", "how the path's delay is measured: `e2e`")
	fs.IntVar(&p.domain, "domain", 0, "PTP domain `number`")
	fs.StringVar(&p.stamps, "stamps", "auto", "who stamps T1 and T4: `auto` (the kernel), user, kernel or hardware")
	fs.StringVar(&p.server, "server-stamps", "auto", "who stamps T2 and T3, which the wire does not tell: `auto` (the kernel), user, kernel or hardware")
	fs.StringVar(&p.utc, "utc-offset", "valid", "what the master is ahead of UTC: as announced if flagged `valid`, announced in any case, or 37s")
	return func() (Probe, error) { return p.checked() }
}

func (p ptpProbe) checked() (Probe, error) {
	if p.delay == "p2p" {
		return nil, errors.New("delay=p2p measures one link, between neighbours: only e2e reaches a master")
	}
	for _, o := range []struct {
		name, value string
		words       []string
	}{
		{"mode", p.mode, []string{"auto", "unicast", "sptp", "listen"}},
		{"delay", p.delay, []string{"e2e"}},
		{"stamps", p.stamps, []string{"auto", "user", "kernel", "hardware"}},
		{"server-stamps", p.server, []string{"auto", "user", "kernel", "hardware"}},
	} {
		if !slices.Contains(o.words, o.value) {
			return nil, fmt.Errorf("%s %q: want %s", o.name, o.value, either(o.words))
		}
	}
	if p.domain < 0 || p.domain > 255 {
		return nil, fmt.Errorf("domain \"%d\": want 0 to 255", p.domain)
	}
	if p.utc != "valid" && p.utc != "announced" {
		d, err := time.ParseDuration(p.utc)
		if err != nil {
			return nil, fmt.Errorf("utc-offset %q: want valid, announced or a time such as 37s", p.utc)
		}
		if d.Abs() >= 24*time.Hour {
			return nil, fmt.Errorf("utc-offset %q: want less than a day", p.utc)
		}
		p.fixed = datasets.Some(d)
	}
	p.shared = &ptpShared{open: map[netip.Addr]*ptpPorts{}}
	return p, nil
}

// either joins words as a sentence does.
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Kind returns Exchanges.
func (ptpProbe) Kind() datasets.Kind { return datasets.Exchanges }

// TakesTarget is true: the target is a master's host; in mode listen an interface or a
// capture file.
func (ptpProbe) TakesTarget() bool { return true }

func sourceOf(word string) datasets.Source {
	switch word {
	case "user":
		return datasets.User
	case "hardware":
		return datasets.Hardware
	}
	return datasets.Kernel
}

// Run makes exchanges as the plan says, eight a second by default, and listens 1 s for
// each. In mode listen it takes what it sees.
func (p ptpProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) (err error) {
	if p.mode == "listen" {
		return p.listen(ctx, target, plan, rec)
	}
	listen, err := listenFor(plan, time.Second)
	if err != nil {
		return err
	}
	s, err := newSchedule(plan, 125*time.Millisecond)
	if err != nil {
		return err
	}
	remote, err := resolveHost(ctx, target, listen)
	if err != nil {
		return fmt.Errorf("ptp: %w", err)
	}
	with, err := p.open(ctx, remote, s, plan, listen)
	if err != nil {
		return fmt.Errorf("ptp: %w", err)
	}
	defer func() { err = errors.Join(err, with.close()) }()
	epoch := time.Now().Add(lead)
	h := newHeader(datasets.Exchanges, target, remote.String(), epoch, plan)
	setPlan(h, s, deadlines{fixed: plan.Deadline}, listen)
	setFacts(h, runtimeTimerFact())
	setFacts(h, append(pathFacts(remote), with.facts()...)...)
	if err := rec.Begin(h); err != nil {
		return err
	}
	run := &exchangeRun{
		with: with, epoch: epoch, listen: listen, deadline: plan.Deadline,
		pace: ntpPace{schedule: s, due: s.phase},
	}
	return run.record(ctx, rec)
}

// ptpClient is a way to make PTP exchanges.
type ptpClient interface {
	exchanger
	facts() []datasets.Field
	close() error
}

// open returns the client of the mode; auto tries whether the master speaks SPTP.
func (p ptpProbe) open(ctx context.Context, remote netip.Addr, s schedule, plan Plan, listen time.Duration) (ptpClient, error) {
	if p.mode != "unicast" {
		simple, err := openSimple(p, remote, plan)
		if err != nil || p.mode == "sptp" || answersSimple(ctx, simple, min(listen, simpleTrial)) {
			return simple, err
		}
		if err := simple.close(); err != nil {
			return nil, err
		}
	}
	// An attempt waits for a Sync: more than one must come while it listens.
	return openUnicast(p, remote, min(s.interval, listen/2), listen, plan)
}

// simpleTrial is how long an SPTP server is given to show itself as one.
const simpleTrial = 200 * time.Millisecond

// resolveHost returns the address of a host that is named without a port: PTP's are
// fixed.
func resolveHost(ctx context.Context, target string, timeout time.Duration) (netip.Addr, error) {
	remote, err := ntpProbe{family: "any"}.remote(ctx, target, timeout)
	if err == nil && remote.Port() != 0 {
		return netip.Addr{}, &spec.UsageError{Msg: fmt.Sprintf("target %q: PTP has the ports 319 and 320 always", target)}
	}
	return remote.Addr(), err
}
