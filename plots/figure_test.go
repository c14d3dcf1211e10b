package plots

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
	"github.com/tickmark/tickmark/datasets/spec/spectest"
)

func TestFigures(t *testing.T) { spectest.Check(t, "figure", Figures()) }

// steady makes n calls of 10 ms, one a millisecond, and slow ones in their place.
func steady(n int, slow map[int]time.Duration) []datasets.Row {
	rows := calls(1, n, time.Millisecond, 10*time.Millisecond, 0, 0, 0)
	for i, d := range slow {
		rows[i].(*datasets.Sample).Elapsed = d
	}
	return rows
}

func TestTitlesStateTheFinding(t *testing.T) {
	const ms = time.Millisecond
	several := func(at ...int) map[int]time.Duration {
		slow := map[int]time.Duration{}
		for _, i := range at {
			slow[i] = 60 * ms
		}
		return slow
	}
	for _, c := range []struct {
		name, figure string
		kind         datasets.Kind
		rows         []datasets.Row
		want         string
	}{
		{"quiet", "rtt", datasets.RTT, steady(2000, nil), "Quiet: no call of 2,000 over 50 ms"},
		{"one call", "rtt", datasets.RTT, steady(2000, several(7)), "One slow moment: 1 call over 50 ms"},
		{"one freeze", "rtt", datasets.RTT, steady(2000, several(7, 8, 9, 150)), "One freeze: 4 calls over 50 ms"},
		{
			"two freezes", "rtt", datasets.RTT, steady(9000, several(7, 8, 9, 3000, 3001, 3002, 3003)),
			"2 freezes: 7 calls over 50 ms",
		},
		{"scattered", "rtt", datasets.RTT, steady(9000, several(7, 3000, 6000)), "3 calls over 50 ms, in 3 episodes"},
		{"own limit", "rtt:over=61ms", datasets.RTT, steady(2000, several(7, 8)), "Quiet: no call of 2,000 over 61 ms"},
		{"own gap", "rtt:gap=80ms", datasets.RTT, steady(2000, several(7, 8, 9, 150)), "4 calls over 50 ms, in 2 episodes"},
		{"lost", "rtt", datasets.RTT, lose(steady(2000, nil), 1999), "Quiet: no call of 1,999 over 50 ms; 1 without an answer"},
		{"none", "rtt", datasets.RTT, lose(steady(3, nil), 1)[1:], "No answers: nothing to draw"},
		{"survival", "survival", datasets.RTT, steady(4000, several(1, 2, 3, 4, 5)), "One call in 1,000 takes over 60 ms; half take over 10.0 ms"},
		{"survival of few", "survival", datasets.RTT, steady(20, nil), "20 calls answered: too few to say how slow the slow ones are"},
		// Of 4,000 calls one in a thousand is beyond listening; one in a hundred is not.
		{"censored", "survival", datasets.RTT, lose(steady(4000, nil), 200), "One call in 100 takes over 10 ms; half take over 10 ms"},
		{"fixed", "timeout:estimator=fixed:after=50ms", datasets.RTT, steady(2000, several(7, 8)), "fixed:after=50ms gives up on 2 answered calls (0.1 %)"},
		{"none given up", "timeout:estimator=fixed:after=60ms", datasets.RTT, steady(2000, several(7, 8)), "fixed:after=60ms gives up on no answered call of 2,000"},
		{
			"pause", "pauses", datasets.Pauses,
			[]datasets.Row{&datasets.Pause{At: datasets.Instant(time.Minute), Length: 12 * ms}},
			"1 pause in 60 s, the longest 12 ms",
		},
		{
			// E = δ/2 500 µs + root delay/2 100 µs + root dispersion 50 µs + 0.2 µs of precision and drift.
			"slow clock", "offset", datasets.Exchanges, exchanges(1, 10, time.Second, ms, 0, constant(20*ms)),
			"The local clock is slow by 20 ms ± 650 µs",
		},
		{
			"fast clock", "offset", datasets.Exchanges, exchanges(1, 10, time.Second, ms, 0, constant(-20*ms)),
			"The local clock is fast by 20 ms ± 650 µs",
		},
		{
			"no offset", "offset", datasets.Exchanges, exchanges(1, 10, time.Second, ms, 0, constant(0)),
			"No offset is proven: at the tightest exchange θ is within 650 µs of 0",
		},
		{
			"moved", "offset", datasets.Exchanges, exchanges(1, 10, time.Second, ms, 0, func(at time.Duration) time.Duration { return at / 10 }),
			"The offset moved by at least 899 ms",
		},
		{
			"set back", "clocks", datasets.Clocks, readings(1, 100, time.Second, -time.Second, 0),
			"The wall clock stepped back by 1.00 s after 50 s",
		},
		{
			"steady clocks", "clocks", datasets.Clocks, readings(1, 100, time.Second, 0, 0),
			"No step, and no drift of the steered clock beyond the 240 ns that reading it costs",
		},
		{
			"steered clock", "clocks", datasets.Clocks, readings(1, 101, time.Second, 0, 10),
			"No step; the steered clock gained 1.00 ms against the raw one",
		},
		{
			"none slower", "tradeoff", datasets.RTT, steady(5000, nil),
			"fixed:after=10ms: no false positive in 5,000, a dead peer noticed after 11.0 ms",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustDraw(t, c.figure, trace("x.trace", c.kind, c.rows))
			if title := strings.ReplaceAll(got.Title, noBreak, " "); title != c.want {
				t.Errorf("got  %s\nwant %s", title, c.want)
			}
			if got.Desc == "" || got.Caption == "" || got.Empty == "" && len(got.Layers) == 0 {
				t.Errorf("nothing to read or to see: %+v", got)
			}
		})
	}
}

// TestSurvivalIsTheShareOfSlowerCalls counts by hand what the line says at its points.
func TestSurvivalIsTheShareOfSlowerCalls(t *testing.T) {
	rows := lose(calls(2, 5000, time.Millisecond, 10*time.Millisecond, 0.7, 0, 0), 100)
	c := mustDraw(t, "survival", trace("x", datasets.RTT, rows))
	line, band := c.Layers[1].(*Line), c.Layers[0].(*Band)
	slower := func(x float64) (k int64) {
		for _, r := range rows {
			if d, ok := r.(*datasets.Sample).Latency(); !ok || float64(d) > x*1e9+0.5 {
				k++
			}
		}
		return k
	}
	last := len(line.X) - 1
	for i := 1; i < last; i++ {
		if want := float64(slower(line.X[i])) / 5000; math.Abs(line.Y[i]-want) > 1e-12 {
			t.Errorf("at %g s: %g are slower, want %g", line.X[i], line.Y[i], want)
		}
	}
	// 49 timed out: the line stays there until listening ended after 2 s.
	if line.X[last] != 2 || line.Y[last] != 49./5000 {
		t.Errorf("it ends at (%g, %g), want (2, %g)", line.X[last], line.Y[last], 49./5000)
	}
	for i, x := range band.X {
		want := analysis.ClopperPearson(slower(x), 5000, 0.95)
		if band.Lo[i] != valueOr(want.Lo) || band.Hi[i] != valueOr(want.Hi) {
			t.Errorf("at %g s: [%g, %g], want %v", x, band.Lo[i], band.Hi[i], want)
		}
	}
	if h, ok := c.Layers[2].(*Censored); !ok || h.From != 2 {
		t.Errorf("want what lies beyond 2 s hatched, got %+v", c.Layers[2])
	}
}

// TestOffsetIsTheTightestOfItsColumn holds that of two exchanges at nearly one
// moment the one with the shorter round trip is drawn, between the limits of Bound.
func TestOffsetIsTheTightestOfItsColumn(t *testing.T) {
	rows := slices.Concat(
		exchanges(1, 1, time.Second, 10*time.Millisecond, 0, constant(5*time.Millisecond)),
		exchanges(1, 1, time.Second, 2*time.Millisecond, 0, constant(3*time.Millisecond)))
	rows = append(rows, exchanges(1, 2, time.Hour, 4*time.Millisecond, 0, constant(0))[1])
	h := newMemory(datasets.Exchanges, nil).header
	want, _ := analysis.Bound(rows[1].(*datasets.Exchange), analysis.NewOffsetSummary(h).Assumptions)
	c := mustDraw(t, "offset", trace("x", datasets.Exchanges, rows))
	for _, l := range c.Layers {
		switch v := l.(type) {
		case *Line:
			if len(v.Y) != 2 || v.Y[0] != 0.003 || v.Y[1] != 0 {
				t.Errorf("line %v, want 3 ms and 0", v.Y)
			}
		case *Band:
			if !v.Solid && (v.Lo[0] != want.Offset-want.Seconds || v.Hi[0] != want.Offset+want.Seconds) {
				t.Errorf("limits [%g, %g], want %g ± %g", v.Lo[0], v.Hi[0], want.Offset, want.Seconds)
			}
		}
	}
}

// TestTimeoutMarksWhatTheReplayCounts holds the marks to the score of the replay.
func TestTimeoutMarksWhatTheReplayCounts(t *testing.T) {
	rows := lose(calls(3, 3000, time.Millisecond, 10*time.Millisecond, 0.5, 900*time.Millisecond, 100*time.Millisecond), 70)
	c := mustDraw(t, "timeout:estimator=fixed:after=20ms", trace("x", datasets.RTT, rows))
	var late []time.Duration
	for _, r := range rows {
		if d, ok := r.(*datasets.Sample).Latency(); ok && d > 20*time.Millisecond {
			late = append(late, d)
		}
	}
	if want := count(int64(len(late)), "answered call"); !strings.Contains(c.Title, want) {
		t.Errorf("title %q, want %q in it", c.Title, want)
	}
	for _, l := range c.Layers {
		if b, ok := l.(*Band); ok && b.Role == Alarm {
			if got, want := slices.Max(b.Hi), slices.Max(late).Seconds(); got != want {
				t.Errorf("slowest marked %g, want %g", got, want)
			}
			if got, want := slices.Min(b.Lo), slices.Min(late).Seconds(); got != want {
				t.Errorf("fastest marked %g, want %g", got, want)
			}
			return
		}
	}
	t.Error("nothing is marked")
}

// TestScaledRoundTripsKeepTheirShape holds that ten times as slow is drawn ten times
// as high, and said so.
func TestScaledRoundTripsKeepTheirShape(t *testing.T) {
	draw := func(scale time.Duration) *Chart {
		rows := calls(5, 3000, time.Millisecond, 10*time.Millisecond, 0.2, time.Second, 200*time.Millisecond)
		for _, r := range rows {
			r.(*datasets.Sample).Elapsed *= scale
		}
		return mustDraw(t, "rtt:gap=1h", trace("x", datasets.RTT, rows))
	}
	one, ten := draw(1), draw(10)
	if a, b := strings.Replace(one.Title, "50", "500", 1), ten.Title; a != b {
		t.Errorf("%q, ten times as slow %q", a, b)
	}
	for i, v := range one.Layers[0].(*Band).Hi {
		if w := ten.Layers[0].(*Band).Hi[i]; math.Abs(w/v-10) > 1e-9 {
			t.Fatalf("column %d: %g, ten times as slow %g", i, v, w)
		}
	}
}

// TestSlicesFillTheirAxis holds that a trace cut out of the middle of another one is
// not drawn in a corner, and that a whole one begins at 0.
func TestSlicesFillTheirAxis(t *testing.T) {
	for _, c := range []struct{ from, want float64 }{{0, 0}, {0.5, 0}, {1000, 1000}} {
		rows := steady(5000, nil)
		for _, r := range rows {
			s := r.(*datasets.Sample)
			s.Due += datasets.Instant(c.from * 1e9)
			s.Sent = s.Due
		}
		drawn := mustDraw(t, "rtt", trace("x", datasets.RTT, rows))
		x, _ := drawn.ranges()
		if got := newScale(drawn.X, x).lo; math.Abs(got-c.want) > 0.01 {
			t.Errorf("a trace from %g s is drawn from %g s, want %g", c.from, got, c.want)
		}
	}
}

func TestFiguresRefuseByName(t *testing.T) {
	pausesOf := func() []Trace { return trace("p.trace", datasets.Pauses, stops(1, 3, time.Minute)) }
	rttOf := func() []Trace { return trace("r.trace", datasets.RTT, steady(3, nil)) }
	broken := rttOf()
	broken[0].Rows.(*memory).err = errors.New("r.trace:7: broken")
	for _, c := range []struct {
		figure string
		traces []Trace
		want   string
	}{
		{"rtt", pausesOf(), `rtt: p.trace holds rows of kind "pause"; want "rtt" or "exchange"`},
		{"offset", rttOf(), `offset: r.trace holds rows of kind "rtt"; want "exchange"`},
		{"rtt", slices.Concat(rttOf(), rttOf()), "rtt: draws one trace, got 2"},
		{"survival", nil, "survival: draws 1 to 5 traces, got 0"},
		{"rtt", broken, "r.trace:7: broken"},
		{"rtt:scale=cubic", rttOf(), `rtt: scale "cubic": want auto, linear or log`},
		{"timeout:estimator=fixt", rttOf(), `timeout: unknown estimator "fixt": did you mean "fixed"? (tickmark list estimators names them all)`},
		{"tradeoff:max-false-positives=0%", rttOf(), "tradeoff: max-false-positives must be above 0 % and at most 100 %"},
		{"rt", rttOf(), `unknown figure "rt": did you mean "rtt"? (tickmark list figures names them all)`},
	} {
		_, err := Draw(c.figure, c.traces)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got  %v\nwant %s", c.figure, err, c.want)
		}
	}
	var usage *spec.UsageError
	if _, err := Draw("rt", rttOf()); !errors.As(err, &usage) {
		t.Errorf("%T, want a usage error", err)
	}
}

// An offset of TAI's whole seconds is not drawn as if it were one, nor if only some
// exchanges have it.
func TestOffsetOfTAIIsDoubted(t *testing.T) {
	const tai = 37*time.Second + 1234567
	for _, c := range []struct {
		first, then time.Duration
		doubted     bool
	}{{tai, tai, true}, {-37 * time.Second, -37 * time.Second, true}, {tai, 0, true}, {0, -tai, true}, {20 * time.Second, 20 * time.Second, false}} {
		theta := func(at time.Duration) time.Duration {
			if at < 20*time.Second {
				return c.first
			}
			return c.then
		}
		chart, err := offset([]Trace{{"a.trace", newMemory(datasets.Exchanges, exchanges(1, 50, time.Second, time.Millisecond, time.Millisecond, theta))}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(chart.Title, "TAI/UTC mismatch? "); got != c.doubted {
			t.Errorf("%v, then %v: %q", c.first, c.then, chart.Title)
		}
	}
}
