package plots

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
	"github.com/tickmark/tickmark/datasets/spec"
)

// bindTradeoff draws false positives against detection time.
func bindTradeoff(fs *flag.FlagSet) func() (Figure, error) {
	most := spec.Ratio(fs, "max-false-positives", adaptive.DefaultMaxFalsePositives, "the `share` of false positives that is allowed")
	return func() (Figure, error) {
		if *most <= 0 || *most > 1 {
			return nil, errors.New("max-false-positives must be above 0 % and at most 100 %")
		}
		return func(traces []Trace) (*Chart, error) { return tradeoff(*most, traces) }, nil
	}
}

func tradeoff(most float64, traces []Trace) (*Chart, error) {
	t, err := only("tradeoff", traces)
	if err != nil {
		return nil, err
	}
	if err := checkKind("tradeoff", t, datasets.RTT, datasets.Exchanges); err != nil {
		return nil, err
	}
	tuning, err := adaptive.Tune(t.Rows, nil, adaptive.Goal{MaxFalsePositives: datasets.Some(most)})
	if err != nil {
		return nil, err
	}
	return Tradeoff(t, tuning, most), nil
}

// Tradeoff draws a comparison of t that was made already, of which it reads no row;
// most is the share of false positives that was allowed.
func Tradeoff(t Trace, tuning *adaptive.Tuning, most float64) *Chart {
	c := &Chart{
		Caption: source(t),
		X:       Axis{Label: "A dead peer is noticed after (p99)", Unit: "s", Log: true},
		Y:       Axis{Label: "False positives", Unit: "ratio", Log: true},
	}
	var attempts int64
	groups := &candidates{}
	for _, k := range tuning.Candidates {
		attempts = max(attempts, k.Attempts)
		groups.add(&k)
	}
	if len(groups.limits.X) == 0 {
		c.Title = "Too few attempts to compare timeouts"
		c.Empty = fmt.Sprintf("No estimator has both a share of false positives and a time to notice a dead peer: the trace holds %s that count.", count(attempts, "attempt"))
		c.Desc = c.Empty
		return c
	}
	c.Layers = append(groups.layers(), &Level{Name: "goal", Y: most, Role: muted})
	c.Notes = groups.notes
	_, y := c.ranges()
	c.Y.Include = []float64{y.lo / 2} // room below what was not seen at all
	c.Title = tradeoffTitle(tuning, most)
	c.Subtitle = fmt.Sprintf("%s replayed over %s; bars: 95 %% intervals, attempts taken as independent; ring: none seen, drawn at its upper limit; line: no other has both fewer and sooner",
		capital(count(int64(len(tuning.Candidates)), "estimator")), count(attempts, "attempt"))
	c.Desc = c.Subtitle + "."
	return c
}

// candidates sorts what is compared by how much it matters.
type candidates struct {
	limits             Bars
	front, rest        Points
	frontNone, noneToo Points
	line               [][2]float64
	notes              []Note
}

func (g *candidates) add(k *adaptive.Candidate) {
	x, y := valueOr(k.DetectionP99), valueOr(k.Share.Value)
	hi := valueOr(k.Share.Hi)
	if !(x > 0) || !(hi > 0) {
		return
	}
	label, to := "", &g.rest
	if k.Pareto && !k.Chosen {
		label = k.Text
	}
	if k.FalsePositives == 0 {
		y, to = hi, &g.noneToo
	}
	if k.Chosen {
		g.notes = append(g.notes, Note{X: x, Y: y, Text: "chosen: " + k.Text, Role: Accent, Must: true})
	}
	if k.Pareto || k.Chosen {
		to = &g.front
		if k.FalsePositives == 0 {
			to = &g.frontNone
		}
		g.line = append(g.line, [2]float64{x, y})
	}
	to.X, to.Y, to.Labels = append(to.X, x), append(to.Y, y), append(to.Labels, label)
	g.limits.X, g.limits.Lo, g.limits.Hi = append(g.limits.X, x), append(g.limits.Lo, valueOr(k.Share.Lo)), append(g.limits.Hi, hi)
}

func (g *candidates) layers() []Layer {
	g.limits.Name, g.limits.Role = "95 % interval", Context
	g.rest.Name, g.rest.Role = "others", Context
	g.noneToo.Name, g.noneToo.Role, g.noneToo.Ring = "others, none seen", Context, true
	g.front.Name, g.front.Role = "front", Accent
	g.frontNone.Name, g.frontNone.Role, g.frontNone.Ring = "front, none seen", Accent, true
	slices.SortFunc(g.line, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	line := &Line{Name: "front", Role: Accent, Thin: true, NoEnd: true}
	for _, p := range g.line {
		line.X, line.Y = append(line.X, p[0]), append(line.Y, p[1])
	}
	return []Layer{&g.limits, &g.rest, &g.noneToo, line, &g.frontNone, &g.front}
}

func tradeoffTitle(tuning *adaptive.Tuning, most float64) string {
	k := tuning.Chosen()
	if k == nil {
		return fmt.Sprintf("No estimator tried is shown to stay below %s false positives", percent(most))
	}
	seen := "no false positive in " + unit.Count(k.Attempts)
	if k.FalsePositives > 0 {
		seen = percent(valueOr(k.Share.Value)) + " false positives"
	}
	return fmt.Sprintf("%s: %s, a dead peer noticed after %s", k.Text, seen, format(valueOr(k.DetectionP99)))
}
