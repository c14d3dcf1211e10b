package probes

import (
	"math"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/probes/netlab"
	"github.com/tickmark/tickmark/probes/stamp"
)

// ptpRounds makes n exchanges with the master, at most five times, until the median
// misses the truth by no more than limit: the machine is shared.
func ptpRounds(t *testing.T, text string, lab *netlab.Pair, n int64, interval, truth, limit time.Duration) *ntpTape {
	t.Helper()
	p := parseNTP(t, text)
	var tape *ntpTape
	for round := range 5 {
		tape = &ntpTape{}
		plan := Plan{Count: n, Interval: interval, Listen: datasets.Some(5 * time.Second)}
		if err := lab.Client.Do(func() error { return p.Run(t.Context(), lab.Server.Addr.String(), plan, tape) }); err != nil {
			t.Fatal(err)
		}
		var errs, delays []time.Duration
		for _, e := range tape.rows {
			if theta, ok := e.Offset(); ok && e.Outcome == datasets.Replied {
				delay, _ := e.Delay()
				errs, delays = append(errs, theta-truth), append(delays, delay/2)
			}
		}
		if len(errs) < int(n)*9/10 {
			t.Fatalf("%s: %d of %d exchanges: %s; trailer %v", text, len(errs), n, lastWhy(tape.rows), tape.trailer)
		}
		bias := quantileOf(errs, .5)
		t.Logf("%s: round %d: n %d, θ − truth p1 %v p50 %v p99 %v, path delay p50 %v; %v", text, round, len(errs),
			quantileOf(errs, .01), bias, quantileOf(errs, .99), quantileOf(delays, .5), tape.trailer)
		if bias.Abs() <= limit {
			return tape
		}
	}
	t.Errorf("%s: the median misses the truth by more than %v in all of five rounds", text, limit)
	return tape
}

const unicastMaster = "priority1 10\nunicast_listen 1"

// ptp4l on the other end of the cable has our own clock: θ = 0.
func TestLabPTP4L(t *testing.T) {
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	master := netlab.PTP4L(t, lab.Server, unicastMaster, "")
	master.AwaitState(t, lab.Server, "MASTER")
	ptpRounds(t, "ptp:mode=unicast", lab, 64, 62500*time.Microsecond, 0, time.Microsecond)
}

// A master whose stamps are shifted by 250 µs is that much ahead or behind; its own
// slave, asked by pmc, is the second opinion.
func TestLabPTP4LLatency(t *testing.T) {
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	master := netlab.PTP4L(t, lab.Server, unicastMaster, "egressLatency 250000\ningressLatency -250000")
	master.AwaitState(t, lab.Server, "MASTER")
	// T1 of the master's Sync and T4 of its slaves' Delay_Req are 250 µs late: so is the
	// slave, by its own reckoning, and linuxptp calls that −250 µs.
	tape := ptpRounds(t, "ptp:mode=auto", lab, 64, 62500*time.Microsecond, 250*time.Microsecond, 2*time.Microsecond)
	if got := tape.header.Text("mode"); got != "unicast" {
		t.Errorf("mode %q", got)
	}
	slave := netlab.PTP4L(t, lab.Client, "slaveOnly 1\n[unicast_master_table]\ntable_id 1\nlogQueryInterval 0\nUDPv4 "+lab.Server.Addr.String(), "unicast_master_table 1")
	offset := regexp.MustCompile(`offsetFromMaster\s+(-?[0-9.]+)`)
	slave.Await(t, "pmc's offset", func() bool {
		m := offset.FindStringSubmatch(netlab.PMC(t, lab.Client, slave.Socket, "GET CURRENT_DATA_SET"))
		if m == nil {
			return false
		}
		ns, err := strconv.ParseFloat(m[1], 64)
		return err == nil && math.Abs(ns+250e3) < 10e3
	})
}

// ptp4u counts TAI and announces 37 s, but never that this is valid; the fraction is
// what is to be read.
func TestLabPTP4U(t *testing.T) {
	lab := netlab.New(t)
	if withoutRaceDetector(t) {
		return
	}
	netlab.PTP4U(t, lab.Server, "37.001234567s")
	const truth = 1234567 * time.Nanosecond
	tape := ptpRounds(t, "ptp:mode=sptp,utc-offset=37s", lab, 400, 5*time.Millisecond, truth, 10*time.Microsecond)
	if tape.trailer["announced"] != "class 6, accuracy 0x21, 0 steps removed, UTC offset 37s (not valid)" {
		t.Errorf("trailer %v", tape.trailer)
	}
	ptpRounds(t, "ptp:mode=auto", lab, 50, 5*time.Millisecond, 37*time.Second+truth, 10*time.Microsecond)
	ptpRounds(t, "ptp:mode=auto,utc-offset=announced", lab, 50, 5*time.Millisecond, truth, 10*time.Microsecond)
}

// Between a master and its slave, at the slave's interface: what passes there is what
// the slave measures, and 5 µs more: a tap sees a frame before its driver does. A capture
// of the same, by another tap, tells the same of the same exchanges.
func TestLabPTPListen(t *testing.T) {
	lab := netlab.New(t)
	master := netlab.PTP4L(t, lab.Server, "priority1 10", "egressLatency 250000\ningressLatency -250000")
	netlab.PTP4L(t, lab.Client, "slaveOnly 1", "")
	master.AwaitState(t, lab.Server, "MASTER")
	p := parseNTP(t, "ptp:mode=listen")
	var live *ntpTape
	var median time.Duration
	end := capture(t, lab.Client)
	for round := range 5 {
		live = &ntpTape{}
		if err := lab.Client.Do(func() error {
			return p.Run(t.Context(), lab.Client.Interface, Plan{Count: 48, Duration: 30 * time.Second}, live)
		}); err != nil {
			t.Fatal(err)
		}
		if len(live.rows) != 48 {
			t.Fatalf("%d exchanges: %v", len(live.rows), live.trailer)
		}
		median = medianOffset(live)
		t.Logf("round %d: θ p50 %v; header %v; trailer %v", round, median, live.header.Fields(), live.trailer)
		if (median - 250*time.Microsecond).Abs() <= 10*time.Microsecond {
			break
		}
	}
	if (median - 250*time.Microsecond).Abs() > 10*time.Microsecond {
		t.Errorf("the median is %v, want 250 µs within 10", median)
	}
	sameAsCaptured(t, live, end())
}

func medianOffset(tape *ntpTape) time.Duration {
	var all []time.Duration
	for _, e := range tape.rows {
		if theta, ok := e.Offset(); ok && e.Outcome == datasets.Replied {
			all = append(all, theta)
		}
	}
	return quantileOf(all, .5)
}

// capture taps an interface until end, which returns what passed.
func capture(t *testing.T, n netlab.Namespace) (end func() []byte) {
	t.Helper()
	var tap *stamp.Tap
	if err := n.Do(func() (err error) {
		tap, err = stamp.OpenTap(n.Interface)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	frames, stopped := pcapHead(), make(chan struct{})
	go func() {
		defer close(stopped)
		buf := make([]byte, 2048)
		for {
			f, err := tap.Read(buf)
			if err != nil {
				return
			}
			if at, ok := f.At.UnixNanos(); ok {
				frames = pcapFrame(frames, at, buf[:f.N])
			}
		}
	}()
	t.Cleanup(func() { tap.Close() })
	return func() []byte {
		tap.Close()
		<-stopped
		return frames
	}
}

// sameAsCaptured finds each exchange that was heard live in a capture, by what the
// master said of it. Each tap has its own stamps of one frame, a moment apart.
func sameAsCaptured(t *testing.T, live *ntpTape, capture []byte) {
	t.Helper()
	again, err := listenTo(t, "ptp:mode=listen", capture, Plan{})
	if err != nil {
		t.Fatal(err)
	}
	type told struct{ t2, t3 datasets.Stamp }
	captured := map[told]datasets.Exchange{}
	for _, e := range again.rows {
		captured[told{e.T2, e.T3}] = e
	}
	for _, e := range live.rows {
		c, ok := captured[told{e.T2, e.T3}]
		theta, _ := e.Offset()
		if again, _ := c.Offset(); !ok || c.Extra != e.Extra || (again-theta).Abs() > time.Millisecond {
			t.Errorf("exchange %d: θ %v by %q live, in the capture %v by %q (there: %t)", e.Seq, theta, e.Extra, again, c.Extra, ok)
		}
	}
	if median := medianOffset(again); (median - medianOffset(live)).Abs() > 10*time.Microsecond {
		t.Errorf("the median is %v live and %v in the capture", medianOffset(live), median)
	}
}
