package probes

import (
	"errors"
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
	s := schedule{arrivals: constant, interval: 5 * time.Millisecond, count: n}
	if err := r.record(t.Context(), s, time.Now(), tape); err != nil {
		t.Fatal(err)
	}
	// A busy machine may skip some, and says so.
	if skipped, err := strconv.ParseInt(tape.trailer["skipped"], 10, 64); err != nil || int64(len(tape.rows))+skipped != n || len(tape.rows) == 0 {
		t.Fatalf("%d rows of %d, trailer %v", len(tape.rows), n, tape.trailer)
	}
	return tape
}

// facebook/time's offset_test.go: 1667818153552297411, …462, …522 of a PHC that is
// ahead by 37 s give the system time …297466 and a delay of 111 ns.
func TestCrossStampKnownAnswer(t *testing.T) {
	const second = 1_000_000_000
	c := crossStamp{1667818153552297411, 1667818153552297462 + 37*second, 1667818153552297522}
	if c.width() != 111 || c.ahead() != 37*second-4 {
		t.Errorf("width %v, ahead %d", c.width(), c.ahead())
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
	for i, e := range tape.rows {
		theta, ok := e.Offset()
		delta, _ := e.Delay()
		if !ok || e.Outcome != datasets.Replied || theta != 123*time.Microsecond || delta != 200 || e.Extra != "2000" || e.Sent < e.Due || e.Elapsed < 0 {
			t.Errorf("row %d: θ %v δ %v %+v", i, theta, delta, e)
		}
		if e.T1.Source() != datasets.User || e.T2.Source() != datasets.Hardware {
			t.Errorf("row %d: stamps by %v and %v", i, e.T1.Source(), e.T2.Source())
		}
	}
	if tape.trailer["width-max"] != "200ns" {
		t.Errorf("%d rows, trailer %v", len(tape.rows), tape.trailer)
	}
}

// One PHC against another: what the system clock does between the two readings
// cancels, and δ covers the widths of both.
func TestPHCAgainstAnother(t *testing.T) {
	clock, reference := steady(37*time.Second+100, 0, 200*time.Nanosecond), steady(37*time.Second-50, 0, 300*time.Nanosecond)
	for i, e := range recordPHC(t, readerOf(&clock, &reference), 20).rows {
		theta, ok := e.Offset()
		delta, _ := e.Delay()
		if !ok || theta != 150 || delta < 500 || (theta-150).Abs() > delta/2 || e.T1.Source() != datasets.Hardware {
			t.Errorf("row %d: θ %v δ %v, T1 by %v", i, theta, delta, e.T1.Source())
		}
		if n := strings.Count(e.Extra, "\t"); n != 5 {
			t.Errorf("row %d: %d extra cells", i, n+1)
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

// A TAI clock is brought to UTC where the user says so, and the stamps stay raw.
func TestPHCOfTAI(t *testing.T) {
	way := steady(37*time.Second+7, 0, 200*time.Nanosecond)
	r := readerOf(&way, nil)
	r.utc = 37 * time.Second
	for _, e := range recordPHC(t, r, 3).rows {
		if theta, _ := e.Offset(); theta != 7 {
			t.Errorf("θ %v", theta)
		}
		t1, _ := e.T1.UnixNanos()
		if t2, _ := e.T2.UnixNanos(); time.Duration(t2-t1) < 37*time.Second {
			t.Errorf("T2 is not as it was read")
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
	} {
		if _, _, err := Probes().Parse("probe", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := parseNTP(t, "phc").Run(t.Context(), "/dev/ptp-none", Plan{Count: 1}, &ntpTape{}); err == nil || preciseByDefault && !strings.Contains(err.Error(), "no such device") {
		t.Errorf("%v", err)
	}
}
