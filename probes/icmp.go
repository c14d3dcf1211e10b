package probes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes/echo"
)

// largestICMP is the largest payload of an echo over IPv4, RFC 791 and RFC 792.
const largestICMP = 65_507

// icmp measures round trips of ICMP echoes, as udp does of its own: whatever has an
// address is the other side.
type icmp struct {
	size     int
	arrivals arrivals
}

func bindICMP(fs *flag.FlagSet) func() (Probe, error) {
	size := fs.Int("size", echo.Size, "`bytes` of an echo's payload, both ways")
	arrivals := bindArrivals(fs)
	return func() (Probe, error) {
		if *size < echo.Size || *size > largestICMP {
			return nil, fmt.Errorf("size must be from %d to %d", echo.Size, largestICMP)
		}
		a, err := arrivals()
		return icmp{*size, a}, err
	}
}

// Kind returns RTT.
func (icmp) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is a host, without a port.
func (icmp) TakesTarget() bool { return true }

// Run sends as the plan's schedule says, one echo every 10 ms by default, and listens
// 2 s for each answer.
func (p icmp) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	listen, err := listenFor(plan, 2*time.Second)
	if err != nil {
		return err
	}
	s, err := newSchedule(plan, 10*time.Millisecond)
	if err != nil {
		return err
	}
	s.arrivals = p.arrivals
	remote, err := icmpTarget(ctx, target, listen)
	if err != nil {
		return err
	}
	conn, err := dialPing(remote, p.size)
	if err != nil {
		return fmt.Errorf("icmp: %w", err)
	}
	defer conn.Close()
	deadlines := deadlines{plan.Deadline, listen}
	epoch := time.Now().Add(lead)
	h := newHeader(datasets.RTT, target, remote.String(), epoch, plan)
	setPlan(h, s, deadlines, listen)
	setFacts(h, runtimeTimerFact())
	setFacts(h, pathFacts(remote)...)
	h.Set(datasets.KeyStamps, "user")
	h.Set("socket", conn.kind)
	if conn.stamped {
		h.Set("stall-stamps", "kernel")
	}
	if err := rec.Begin(h); err != nil {
		return err
	}
	f := &flight{
		conn: oneByOne{conn}, epoch: epoch, schedule: s, deadlines: deadlines,
		open: newInflight(rand.Uint64(), p.size, s.interval, listen),
	}
	f.sent.interval = s.interval
	return f.run(ctx, rec)
}

// icmpTarget returns the address of a target, which has no port.
func icmpTarget(ctx context.Context, target string, listen time.Duration) (netip.Addr, error) {
	remote, err := remoteOf(ctx, target, 0, "ip", listen)
	switch {
	case err != nil:
		return netip.Addr{}, err
	case remote.Port() != 0:
		return netip.Addr{}, &spec.UsageError{Msg: fmt.Sprintf("target %q: want a host: ICMP has no ports", target)}
	}
	return remote.Addr(), nil
}

// errNoPing is what must change when neither kind of socket is allowed.
var errNoPing = errors.New("this user may not send echoes: put a group of the user's into the range net.ipv4.ping_group_range (sysctl), or give tickmark CAP_NET_RAW")
