package probes

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/probes/echo"
	"github.com/tickmark/tickmark/probes/stamp"
)

// The largest payload of a UDP packet over IPv4, RFC 768 and RFC 791.
const largestUDP = 65_507

// longestSpin is more than it takes any CPU to wake up.
const longestSpin = time.Millisecond

// udp measures round trips to tickmark's UDP echo. Every attempt is sent when the
// schedule wants it, whether or not those before it were answered, and what stands
// in a row is what a user of the network waits: from due to the return of the read.
type udp struct {
	size     int
	stamps   datasets.Source // of departures
	spin     time.Duration   // after a sending
	arrivals arrivals
}

func bindUDP(fs *flag.FlagSet) func() (Probe, error) {
	size := fs.Int("size", echo.Size, "`bytes` of a packet's payload, both ways")
	stamps := fs.String("stamps", datasets.Kernel.String(), "who stamps departures, beside us: `kernel`, where it can, or user")
	spin := fs.Duration("spin", 50*time.Microsecond, "look for answers for this `time` after sending before sleeping, where that is worth it; 0: never")
	arrivals := bindArrivals(fs)
	return func() (Probe, error) {
		if *size < echo.Size || *size > largestUDP {
			return nil, fmt.Errorf("size must be from %d to %d", echo.Size, largestUDP)
		}
		if *stamps != datasets.Kernel.String() && *stamps != datasets.User.String() {
			return nil, fmt.Errorf("stamps %q: want kernel or user", *stamps)
		}
		if *spin < 0 || *spin > longestSpin {
			return nil, fmt.Errorf("spin %q: want 0s to %s", spec.Duration(*spin), longestSpin)
		}
		p := udp{size: *size, spin: *spin}
		if *stamps == datasets.Kernel.String() {
			p.stamps = datasets.Kernel
		}
		var err error
		p.arrivals, err = arrivals()
		return p, err
	}
}

// Kind returns RTT.
func (udp) Kind() datasets.Kind { return datasets.RTT }

// TakesTarget is true: the target is host:port.
func (udp) TakesTarget() bool { return true }

// Run sends as the plan's schedule says, one attempt every 10 ms by default, and
// listens 2 s for each answer. Rows come in the order of the attempts, each once
// it and all before it are final; an answered one is held back 100 ms so that
// duplicates count in it.
func (p udp) Run(ctx context.Context, target string, plan Plan, rec Recorder) error {
	listen, err := listenFor(plan, 2*time.Second)
	if err != nil {
		return err
	}
	s, err := newSchedule(plan, 10*time.Millisecond)
	if err != nil {
		return err
	}
	s.arrivals = p.arrivals
	remote, err := resolve(ctx, target)
	if err != nil {
		return fmt.Errorf("udp: %w", err)
	}
	conn, err := stamp.Dial(netip.AddrPort{}, remote)
	if err != nil {
		return fmt.Errorf("udp: %w", err)
	}
	defer conn.Close()
	deadlines := deadlines{plan.Deadline, listen}
	epoch := time.Now().Add(lead)
	h := newHeader(datasets.RTT, target, remote.String(), epoch, plan)
	setPlan(h, s, deadlines, listen)
	setFacts(h, pollTimerFact())
	setFacts(h, pathFacts(remote.Addr())...)
	h.Set(datasets.KeyStamps, "user")
	if conn.KernelStamps() {
		h.Set("stall-stamps", "kernel")
		h.Set("t4-stamps", "kernel")
	}
	refused := conn.StampDepartures(p.stamps)
	if p.stamps != datasets.User {
		setFacts(h, departureFact(refused))
	}
	h.Extra = udpColumns()
	if err := rec.Begin(h); err != nil {
		return err
	}
	f := &flight{
		conn: conn, departures: p.stamps != datasets.User && refused == nil, epoch: epoch, schedule: s, deadlines: deadlines, cells: udpCells,
		open: newInflight(rand.Uint64(), p.size, s.interval, listen),
	}
	f.open.epoch = epoch.UnixNano()
	f.spin.longest = p.spin
	f.sent.interval = s.interval
	return f.run(ctx, rec)
}

// departureFact says whose t1 is, or why it is nobody's.
func departureFact(refused error) datasets.Field {
	if refused != nil {
		return datasets.Field{Key: "t1-stamps", Value: "none: " + refused.Error()}
	}
	return datasets.Field{Key: "t1-stamps", Value: datasets.Kernel.String()}
}

// resolve returns the first address of target, host:port.
func resolve(ctx context.Context, target string) (netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(target)
	if err != nil {
		return netip.AddrPort{}, &spec.UsageError{Msg: fmt.Sprintf("target %q: want host:port", target)}
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || port == 0 {
		return netip.AddrPort{}, &spec.UsageError{Msg: fmt.Sprintf("target %q: port %q: want 1 to 65535", target, portText)}
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.AddrPortFrom(all[0].Unmap(), uint16(port)), nil
}
