package plots

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets"
)

var render = flag.String("render", "", "folder into which TestRender writes every demonstration, to be looked at")

// demos are charts of made-up traces, one for each thing a figure can show.
func demos(tb testing.TB) map[string]*Chart {
	tb.Helper()
	demos := map[string]*Chart{}
	demos["rtt-freeze"] = mustDraw(tb, "rtt", trace("api.trace", datasets.RTT,
		lose(calls(1, 15_000, 4*time.Millisecond, 10*time.Millisecond, 0.2, 21*time.Second, 800*time.Millisecond), 2250)))
	demos["rtt-quiet"] = mustDraw(tb, "rtt", trace("lan.trace", datasets.RTT,
		calls(2, 5000, 100*time.Millisecond, 180*time.Microsecond, 0.15, 0, 0)))
	demos["rtt-few"] = mustDraw(tb, "rtt", trace("few.trace", datasets.RTT,
		calls(3, 12, time.Second, 18*time.Millisecond, 0.5, 0, 0)))
	demos["rtt-none"] = mustDraw(tb, "rtt", trace("dead.trace", datasets.RTT,
		lose(calls(3, 12, time.Second, 18*time.Millisecond, 0.5, 0, 0)[1:], 1)[1:]))
	demos["survival"] = mustDraw(tb, "survival", trace("api.trace", datasets.RTT,
		lose(calls(1, 15_000, 4*time.Millisecond, 10*time.Millisecond, 0.4, 21*time.Second, 800*time.Millisecond), 2250)))
	demos["survival-three"] = mustDraw(tb, "survival", slices.Concat(
		trace("near.trace", datasets.RTT, calls(4, 4000, time.Millisecond, 900*time.Microsecond, 0.3, 0, 0)),
		trace("far-away-in-another-country.trace", datasets.RTT, calls(5, 2000, time.Millisecond, 28*time.Millisecond, 0.1, 0, 0)),
		trace("busy.trace", datasets.RTT, lose(calls(6, 9000, time.Millisecond, 4*time.Millisecond, 0.8, 3*time.Second, 300*time.Millisecond), 300))))
	demos["survival-few"] = mustDraw(tb, "survival", trace("few.trace", datasets.RTT,
		calls(3, 12, time.Second, 18*time.Millisecond, 0.5, 0, 0)))
	demos["pauses"] = mustDraw(tb, "pauses", trace("host.trace", datasets.Pauses, stops(7, 140, 10*time.Minute)))
	demos["pauses-many"] = mustDraw(tb, "pauses", trace("host.trace", datasets.Pauses, stops(8, 40000, 26*time.Hour)))
	frozen := func() []Trace {
		return trace("api.trace", datasets.RTT,
			lose(calls(1, 15_000, 4*time.Millisecond, 10*time.Millisecond, 0.2, 21*time.Second, 800*time.Millisecond), 2250))
	}
	demos["timeout"] = mustDraw(tb, "timeout", frozen())
	demos["timeout-quantile"] = mustDraw(tb, `timeout:estimator="quantile:q=99%,factor=2"`, frozen())
	demos["timeout-fixed"] = mustDraw(tb, "timeout:estimator=fixed:after=1s", frozen())
	demos["tradeoff"] = mustDraw(tb, "tradeoff", frozen())
	demos["tradeoff-strict"] = mustDraw(tb, "tradeoff:max-false-positives=0.001%", trace("few.trace", datasets.RTT,
		calls(3, 900, 10*time.Millisecond, 18*time.Millisecond, 0.5, 4*time.Second, 300*time.Millisecond)))
	addClockDemos(tb, demos)
	return demos
}

func addClockDemos(tb testing.TB, demos map[string]*Chart) {
	tb.Helper()
	wander := func(at time.Duration) time.Duration {
		return time.Duration(300e3 * math.Sin(at.Seconds()/700))
	}
	demos["offset"] = mustDraw(tb, "offset", trace("ntp1.trace", datasets.Exchanges,
		exchanges(9, 900, time.Second, 180*time.Microsecond, 60*time.Microsecond, wander)))
	demos["offset-slow"] = mustDraw(tb, "offset", trace("ntp2.trace", datasets.Exchanges,
		exchanges(10, 20, 16*time.Second, 180*time.Microsecond, 60*time.Microsecond, constant(37*time.Second))))
	demos["offset-three"] = mustDraw(tb, "offset", slices.Concat(
		trace("ntp1", datasets.Exchanges, exchanges(11, 300, time.Second, 8*time.Millisecond, time.Millisecond, constant(time.Millisecond))),
		trace("ntp2", datasets.Exchanges, exchanges(12, 300, time.Second, 30*time.Millisecond, time.Millisecond, constant(-time.Millisecond))),
		trace("ntp3", datasets.Exchanges, exchanges(13, 300, time.Second, 3*time.Millisecond, time.Millisecond, constant(0)))))
	demos["clocks-step"] = mustDraw(tb, "clocks", trace("host.trace", datasets.Clocks, readings(14, 1200, 100*time.Millisecond, 1500*time.Microsecond, 12)))
	demos["clocks"] = mustDraw(tb, "clocks", trace("host.trace", datasets.Clocks, readings(15, 1200, 100*time.Millisecond, 0, -12)))
}

func TestRender(t *testing.T) {
	if *render == "" {
		t.Skip("no -render FOLDER")
	}
	for name, c := range demos(t) {
		for suffix, theme := range map[string]Theme{"": {}, "-dark": {Dark: true}, "-narrow": {Narrow: true}} {
			write(t, filepath.Join(*render, name+suffix+".png"), func(f *os.File) error { return c.WritePNG(f, theme) })
			write(t, filepath.Join(*render, name+suffix+".svg"), func(f *os.File) error { return c.WriteSVG(f, theme) })
		}
		write(t, filepath.Join(*render, name+".csv"), func(f *os.File) error { return c.WriteCSV(f) })
	}
}

func write(t *testing.T, path string, to func(*os.File) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := to(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
