package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// ntpProbe asks an NTP server for the time, one attempt after another, and keeps the
// four raw stamps of each.
//
// T1 is taken by the user just before the send and T4 by the kernel where it can:
// that pairs the request, which the server's kernel stamps on arrival, with the
// reply, which the server stamps before sending it. The sources of T2 and T3 are
// not on the wire; they are recorded as user.
//
// Sent and Elapsed are monotonic, read next to the send and the receive. Elapsed is
// T4−T1 and the stall, the time the reply waited to be read; what it takes to make
// a socket for each attempt is in sent − due.
type ntpProbe struct {
	port, version int
	family        string
}

func bindNTP(fs *flag.FlagSet) func() (Probe, error) {
	port := fs.Int("port", 123, "`port` of a target that names none")
	version := fs.Int("version", 4, "NTP `version`, 3 or 4")
	family := fs.String("family", "any", "addresses of a target that is a name: `any`, 4 or 6")
	return func() (Probe, error) {
		switch {
		case *port < 1 || *port > 65535:
			return nil, errors.New("port must be from 1 to 65535")
		case *version != 3 && *version != 4:
			// The library's experimental version 5 panics on a reply that ends in a
			// 4-byte extension field of length zero.
			return nil, fmt.Errorf("version %d: want 3 or 4", *version)
		case *family != "any" && *family != "4" && *family != "6":
			return nil, fmt.Errorf("family %q: want any, 4 or 6", *family)
		}
		return ntpProbe{*port, *version, *family}, nil
	}
}

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
func (p ntpProbe) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
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
	path, err := openNTPPath(ctx, remote)
	if err != nil {
		return fmt.Errorf("ntp: %w", err)
	}
	defer path.close()
	epoch := time.Now().Add(lead)
	if err := rec.Begin(p.header(target, path, epoch, s, plan, listen)); err != nil {
		return err
	}
	run := &ntpRun{
		path: path, version: p.version, epoch: epoch, listen: listen, deadline: plan.Deadline,
		pace: ntpPace{schedule: s, gap: ntpGap(remote.Addr(), plan)},
	}
	return run.record(ctx, rec)
}

func (p ntpProbe) header(target string, path *ntpPath, epoch time.Time, s schedule, plan Plan, listen time.Duration) *datasets.Header {
	h := newHeader(datasets.Exchanges, target, path.remote.String(), epoch, plan)
	setPlan(h, s, plan.Deadline, listen)
	h.Set("local", path.local.String())
	h.Set(datasets.KeyStamps, "t1=user t4="+path.stamps.String())
	h.SetDuration(datasets.KeyPrecision, clockPrecision())
	return h
}
