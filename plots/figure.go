package plots

import (
	"strings"

	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// Trace is a trace to be drawn. Its rows are read once, by the figure.
type Trace struct {
	Name string
	Rows datasets.Stream
}

// Figure reads traces to their end and returns what there is to see of them. A
// trace of a kind it does not draw is an error; one with nothing in it is a chart
// that says so.
type Figure func([]Trace) (*Chart, error)

// Figures lists what can be drawn.
func Figures() spec.Table[Figure] {
	return spec.Table[Figure]{
		{Name: "rtt", Summary: "round trips over time: least, median and greatest of each column, time-outs marked", Bind: bindRTT},
		{Name: "survival", Summary: "share of calls slower than each round trip, with its interval; what timed out is hatched", Bind: bindSurvival},
		{Name: "offset", Summary: "θ over time between the limits of its error", Bind: bindOffset},
		{Name: "clocks", Summary: "how the clocks of one host move against each other", Bind: bindClocks},
		{Name: "timeout", Summary: "the timeout of an estimator over the round trips it learned from", Bind: bindTimeout},
		{Name: "tradeoff", Summary: "false positives against the time to notice a dead peer, for many estimators", Bind: bindTradeoff},
		{Name: "pauses", Summary: "how long this process was not run, over time", Bind: bindPauses},
	}
}

// Draw makes the figure that a spec ("rtt:over=50ms") asks for of traces.
func Draw(figure string, traces []Trace) (*Chart, error) {
	f, canonical, err := Figures().Parse("figure", figure)
	if err != nil {
		return nil, err
	}
	c, err := f(traces)
	if err != nil {
		return nil, err
	}
	c.Spec = canonical
	return c, nil
}

func joinNonEmpty(separator string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, separator)
}
