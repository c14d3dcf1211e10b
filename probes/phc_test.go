package probes

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

// fakePHC is a clock that is read by a function instead of the kernel.
type fakePHC struct{}

func (fakePHC) Fd() uintptr  { return 0 }
func (fakePHC) Close() error { return nil }

// steady reads a PHC that is ahead of the system clock by a time and gains ppm; each
// reading takes width, and the first of a call ten times as long.
func steady(ahead time.Duration, ppm float64, width time.Duration) phcWay {
	start := time.Now()
	return phcWay{"extended", func(_ uintptr, samples int) ([]crossStamp, error) {
		all := make([]crossStamp, samples)
		for i := range all {
			w := int64(width)
			if i == 0 {
				w *= 10
			}
			now := time.Now()
			before := now.UnixNano()
			gained := int64(ppm * 1e-6 * float64(now.Sub(start)))
			all[i] = crossStamp{before, before + w/2 + int64(ahead) + gained, before + w}
		}
		return all, nil
	}}
}

func readerOf(clock, reference *phcWay) *phcReader {
	r := &phcReader{samples: 5, clock: &phcClock{path: "/dev/ptp0", way: *clock, device: fakePHC{}}}
	if reference != nil {
		r.reference = &phcClock{path: "/dev/ptp1", way: *reference, device: fakePHC{}}
	}
	return r
}

func recordPHC(t *testing.T, r *phcReader, n int64) *ntpTape {
	t.Helper()
	tape := &ntpTape{}
	s := schedule{interval: 5 * time.Millisecond, count: n}
	if err := r.record(t.Context(), s, time.Now(), tape); err != nil {
		t.Fatal(err)
	}
	// A busy machine may skip some, and says so.
	if skipped, err := strconv.ParseInt(tape.trailer["skipped"], 10, 64); err != nil || int64(len(tape.rows))+skipped != n || len(tape.rows) == 0 {
		t.Fatalf("%d rows of %d, trailer %v", len(tape.rows), n, tape.trailer)
	}
	return tape
}

// facebook/time's offset_test.go, TestSysoffFromExtendedTS and TestSysoffBestSample: a
// system clock that is ahead of the PHC by 37.000000004 s within 111 ns, and of three
// readings the one of 78 ns, by 37.000000022 s. Theirs is the other sign.
func TestCrossStampKnownAnswer(t *testing.T) {
	const sys, phc = 1667818190_000000000, 1667818153_000000000
	three := []crossStamp{
		{sys + 552297411, phc + 552297462, sys + 552297522},
		{sys + 552297533, phc + 552297582, sys + 552297622},
		{sys + 552297644, phc + 552297661, sys + 552297722},
	}
	for _, want := range []struct {
		of           []crossStamp
		theta, delta time.Duration
	}{
		{three[:1], -37000000004, 111},
		{three, -37000000022, 78},
		{[]crossStamp{{sys + 552297411, phc + 552297462, sys + 552297411}}, -36999999949, 0}, // PRECISE, against its Realtime
	} {
		way := phcWay{"extended", func(uintptr, int) ([]crossStamp, error) { return want.of, nil }}
		row, err := readerOf(&way, nil).stamps()
		theta, _ := row.Offset()
		delta, _ := row.Delay()
		// Half of an odd width is cut: theirs at the system time, ours at θ.
		if err != nil || (theta-want.theta).Abs() > 1 || delta != want.delta {
			t.Errorf("θ %d δ %d, %v; want %d, %d", theta, delta, err, want.theta, want.delta)
		}
	}
}

func TestNarrowestReadingCounts(t *testing.T) {
	best, widest := narrowest([]crossStamp{{0, 0, 500}, {10, 12, 14}, {20, 25, 30}, {50, 40, 30}})
	if best != (crossStamp{10, 12, 14}) || widest != 500 {
		t.Errorf("%+v, widest %v", best, widest)
	}
	if best, _ := narrowest([]crossStamp{{9, 9, 3}, {0, 1, 2}}); best != (crossStamp{0, 1, 2}) {
		t.Errorf("a reading across a step was taken: %+v", best)
	}
}

// θ is the PHC minus the system clock, within half the width of the reading.
func TestPHCReadsWhatItIsAhead(t *testing.T) {
	way := steady(123*time.Microsecond, 0, 200*time.Nanosecond)
	tape := recordPHC(t, readerOf(&way, nil), 20)
	var late, took time.Duration
	for i, e := range tape.rows {
		late, took = late+e.Sent.Sub(e.Due), took+e.Elapsed
		theta, ok := e.Offset()
		delta, _ := e.Delay()
		if !ok || e.Outcome != datasets.Replied || theta != 123*time.Microsecond || delta != 200 || e.Extra != "2000" || e.Sent < e.Due || e.Elapsed < 0 {
			t.Errorf("row %d: θ %v δ %v %+v", i, theta, delta, e)
		}
		if e.T1.Source() != datasets.User || e.T2.Source() != datasets.Hardware {
			t.Errorf("row %d: stamps by %v and %v", i, e.T1.Source(), e.T2.Source())
		}
	}
	if late <= 0 || took <= 0 {
		t.Errorf("late by %v, took %v", late, took)
	}
	if tape.trailer["width-max"] != "200ns" {
		t.Errorf("%d rows, trailer %v", len(tape.rows), tape.trailer)
	}
}

// One PHC against another: what the system clock does between the readings cancels,
// and δ covers the widths of both.
func TestPHCAgainstAnother(t *testing.T) {
	clock, reference := steady(37*time.Second+100, 0, 200*time.Nanosecond), steady(37*time.Second-50, 0, 300*time.Nanosecond)
	for i, e := range recordPHC(t, readerOf(&clock, &reference), 20).rows {
		theta, ok := e.Offset()
		delta, _ := e.Delay()
		if !ok || theta != 150 || delta != 500 || e.T1.Source() != datasets.Hardware {
			t.Errorf("row %d: θ %v δ %v, T1 by %v", i, theta, delta, e.T1.Source())
		}
		if n := strings.Count(e.Extra, "\t") + 1; n != len(readerOf(&clock, &reference).extra()) {
			t.Errorf("row %d: %d extra cells", i, n)
		}
	}
}

// threeClocks are a system clock, which may be slewed at 8 % as chrony does or step
// between two readings, and two PHCs, all read at random within random widths.
type threeClocks struct {
	rng             *rand.Rand
	true            float64 // ns
	sysRate, sysOff float64
	step            float64
}

const targetRate, targetAhead, referenceRate, referenceAhead = 100e-6, 5000, -50e-6, -7000

func (c *threeClocks) sys() int64 { return int64(math.Floor(c.true*(1+c.sysRate) + c.sysOff)) }

func (c *threeClocks) way(rate, ahead float64) phcWay {
	return phcWay{"extended", func(uintptr, int) ([]crossStamp, error) {
		c.sysOff += c.step
		all := make([]crossStamp, 9)
		for i := range all {
			all[i].before = c.sys()
			c.true += c.rng.ExpFloat64() * 500
			all[i].phc = int64(math.Floor(c.true*(1+rate) + ahead))
			c.true += c.rng.ExpFloat64() * 500
			all[i].after = c.sys()
			c.true += 1000
		}
		return all, nil
	}}
}

// Half of δ bounds the error of θ whatever the system clock does, even a step that is
// far too small to be noticed; the limits of the target against it do not move.
func TestPHCAgainstAnotherIsBounded(t *testing.T) {
	for _, c := range []threeClocks{{}, {sysRate: 0.08}, {sysRate: -0.08}, {step: 3000}, {step: -3000}} {
		c.rng = rand.New(rand.NewPCG(1, 2))
		clock, reference := c.way(targetRate, targetAhead), c.way(referenceRate, referenceAhead)
		r := readerOf(&clock, &reference)
		for range 500 {
			row, err := r.stamps()
			theta, _ := row.Offset()
			delta, _ := row.Delay()
			// The truth is of the moment that the target was read, by its own stamp.
			at, _ := row.T2.UnixNanos()
			truth := float64(at) - (float64(at-targetAhead)/(1+targetRate)*(1+referenceRate) + referenceAhead)
			if off := math.Abs(float64(theta) - truth); err != nil || off > float64(delta)/2+3 {
				t.Fatalf("%+v: θ %v, want %.1f: %.1f ns off, δ/2 %v: %v", c, theta, truth, off, delta/2, err)
			}
		}
	}
}

// A reading of the reference in which the system clock stepped back tells nothing.
func TestPHCAgainstOneThatSawAStep(t *testing.T) {
	clock := steady(0, 0, 200)
	reference := phcWay{"extended", func(uintptr, int) ([]crossStamp, error) { return []crossStamp{{10, 5, 0}}, nil }}
	if row := readerOf(&clock, &reference).read(); row.Outcome != datasets.Invalid || row.Why != "the system clock stepped back while /dev/ptp1 was read" {
		t.Errorf("%v: %s", row.Outcome, row.Why)
	}
	if row := readerOf(&reference, nil).read(); row.Outcome != datasets.Invalid || !strings.Contains(row.Why, "the delay is negative (-10ns)") {
		t.Errorf("%v: %s", row.Outcome, row.Why)
	}
}

// Either clock that cannot be read makes a lost sample, by its name.
func TestPHCAgainstOneThatFails(t *testing.T) {
	sound := steady(0, 0, 200)
	for failing, want := range map[string]string{
		"target": "/dev/ptp0: input/output error", "reference": "/dev/ptp1: input/output error",
		"reference, the second time": "/dev/ptp1: input/output error", "nothing": "/dev/ptp1: no reading came",
	} {
		calls := 0
		bad := phcWay{"extended", func(fd uintptr, samples int) ([]crossStamp, error) {
			calls++
			switch {
			case failing == "nothing":
				return nil, nil
			case failing == "reference, the second time" && calls == 1:
				return sound.read(fd, samples)
			}
			return nil, errors.New("input/output error")
		}}
		r := readerOf(&sound, &bad)
		if failing == "target" {
			r = readerOf(&bad, &sound)
		}
		if row := r.read(); row.Outcome != datasets.LostLocal || r.failed != 1 || r.failure != want {
			t.Errorf("%s: %v, %q", failing, row.Outcome, r.failure)
		}
	}
}

// A reading that fails is a row, and the next one is made.
func TestALostReadingIsASample(t *testing.T) {
	sound := steady(0, 0, 200*time.Nanosecond)
	calls := 0
	broken := phcWay{"extended", func(fd uintptr, samples int) ([]crossStamp, error) {
		if calls++; calls%2 == 0 {
			return nil, errors.New("input/output error")
		}
		return sound.read(fd, samples)
	}}
	tape := recordPHC(t, readerOf(&broken, nil), 10)
	for i, e := range tape.rows {
		want := datasets.Replied
		if i%2 == 1 {
			want = datasets.LostLocal
		}
		if e.Outcome != want {
			t.Errorf("row %d: %v, want %v", i, e.Outcome, want)
		}
	}
	if tape.trailer["failed"] != strconv.Itoa(len(tape.rows)/2) || tape.trailer["read-error"] != "/dev/ptp0: input/output error" {
		t.Errorf("trailer %v", tape.trailer)
	}
}

// A TAI clock is brought to UTC where the user says so, and the stamps stay raw. Where
// he does not, or says it of a clock that is not, it is doubted, with what takes it off.
func TestPHCOfTAI(t *testing.T) {
	for _, c := range []struct {
		ahead, utc, theta time.Duration
		warning           string
	}{
		{37*time.Second + 7, 37 * time.Second, 7, ""},
		{37*time.Second + 7, 0, 37*time.Second + 7, "TAI/UTC mismatch? 3 offsets are near 37s: utc-offset=37s takes it off"},
		{7, 37 * time.Second, 7 - 37*time.Second, "TAI/UTC mismatch? 3 offsets are near -37s: utc-offset=0s takes it off"},
		{7, 0, 7, ""},
	} {
		way := steady(c.ahead, 0, 200*time.Nanosecond)
		r := readerOf(&way, nil)
		r.utc = c.utc
		var rows []datasets.Exchange
		for range 3 {
			rows = append(rows, r.read())
		}
		for _, e := range rows {
			if theta, _ := e.Offset(); theta != c.theta {
				t.Errorf("%v with %v: θ %v", c.ahead, c.utc, theta)
			}
			t1, _ := e.T1.UnixNanos()
			if t2, _ := e.T2.UnixNanos(); time.Duration(t2-t1) != c.ahead+100 {
				t.Errorf("T2 is not as it was read")
			}
		}
		var warning string
		for _, f := range r.fields() {
			if f.Key == "warning" {
				warning = f.Value
			}
		}
		if warning != c.warning {
			t.Errorf("%v with %v: %q", c.ahead, c.utc, warning)
		}
	}
}

// The first way that a device has is taken, and why it has not the others is said.
func TestWaysAreTriedInOrder(t *testing.T) {
	not := func(err error) func(uintptr, int) ([]crossStamp, error) {
		return func(uintptr, int) ([]crossStamp, error) { return nil, err }
	}
	sound := steady(0, 0, 1)
	ways := []phcWay{{"precise", not(errors.New("operation not supported"))}, {"extended", not(errors.New("inappropriate ioctl"))}, {"basic", sound.read}}
	c := &phcClock{path: "/dev/ptp0", device: fakePHC{}}
	if err := c.choose(ways, "auto", 5); err != nil || c.way.name != "basic" {
		t.Errorf("%q, %v", c.way.name, err)
	}
	if want := "precise: operation not supported; extended: inappropriate ioctl"; c.refused != want {
		t.Errorf("refused %q", c.refused)
	}
	err := c.choose(ways, "precise", 5)
	if err == nil || err.Error() != "/dev/ptp0: cannot be read: precise: operation not supported" {
		t.Errorf("%v", err)
	}
	if err := c.choose(ways[:2], "auto", 5); err == nil || !strings.Contains(err.Error(), "extended: inappropriate ioctl") {
		t.Errorf("%v", err)
	}
}

func TestPHCSpec(t *testing.T) {
	for text, want := range map[string]string{
		"phc:samples=0":  "samples 0: want 1 to 25",
		"phc:samples=26": "samples 26: want 1 to 25",
		"phc:way=exact":  "exact",

		"phc:utc-offset=24h":  `utc-offset "24h": want less than a day`,
		"phc:utc-offset=-24h": `utc-offset "-24h": want less than a day`,
	} {
		if _, _, err := Probes().Parse("probe", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := parseNTP(t, "phc").Run(t.Context(), "/dev/ptp-none", Plan{Count: 1}, &ntpTape{}); err == nil || preciseByDefault && !strings.Contains(err.Error(), "no such device") {
		t.Errorf("%v", err)
	}
}
