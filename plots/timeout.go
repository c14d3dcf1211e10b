package plots

import (
	"flag"
	"fmt"
	"strings"

	"github.com/tickmark/tickmark/adaptive"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// bindTimeout draws the timeout that an estimator would have set, over the round
// trips it learned from.
func bindTimeout(fs *flag.FlagSet) func() (Figure, error) {
	estimator := fs.String("estimator", "jacobson", "the `spec` of a timeout estimator, in double quotes if it has a comma")
	return func() (Figure, error) {
		if _, _, err := adaptive.Estimators().Parse("estimator", *estimator); err != nil {
			return nil, err
		}
		return func(traces []Trace) (*Chart, error) { return timeouts(*estimator, traces) }, nil
	}
}

func timeouts(estimator string, traces []Trace) (*Chart, error) {
	t, err := only("timeout", traces)
	if err != nil {
		return nil, err
	}
	e, canonical, err := adaptive.Estimators().Parse("estimator", estimator)
	if err != nil {
		return nil, err
	}
	listen, _ := t.Rows.Header().Duration(datasets.KeyListen)
	trips, set, wrong := newReducer(0), newReducer(0), newReducer(0)
	replay := adaptive.NewReplay(e, listen)
	replay.Watch(func(v adaptive.Verdict) {
		set.add(v.At, v.Timeout)
		if v.FalsePositive {
			wrong.add(v.At, v.Latency)
		}
	})
	err = eachSample("timeout", t, func(m *datasets.Sample) {
		replay.Add(m)
		if d, ok := m.Latency(); ok {
			trips.add(m.Due, d)
		} else if m.Outcome == datasets.TimedOut {
			trips.mark(m.Due)
		}
	})
	if err != nil {
		return nil, err
	}
	score := replay.Finish()
	c := &Chart{X: timeAxis(), Y: Axis{Label: "Round trip and timeout", Unit: "s", Log: true}, Caption: joinNonEmpty(" · ", source(t), canonical)}
	if score.Attempts == 0 {
		c.Title = "No attempts: nothing to draw"
		c.Empty = t.Name + " holds no attempt that was answered or timed out."
		c.Desc = c.Empty
		return c, nil
	}
	wrong.align(trips)
	c.addTimeouts(trips.cells(), set.cells(), wrong.cells())
	c.Title = timeoutTitle(estimator, &score)
	c.Subtitle = timeoutSubtitle(&score)
	c.Desc = c.Subtitle + "."
	return c, nil
}

func (c *Chart) addTimeouts(trips, set, wrong []cell) {
	extent, _ := splitCells(trips, 1e18)
	extent.Name = "round trips, least to greatest"
	var unanswered int64
	for _, x := range trips {
		unanswered += x.Marks
	}
	line, reach := medianLine(set), &Band{Name: "timeout, least to greatest", Role: Accent}
	line.Name, line.Role, line.NoEnd, line.Thin = "timeout", Accent, false, false
	for _, x := range set {
		reach.X, reach.Width = append(reach.X, x.At), append(reach.Width, x.Width)
		reach.Lo, reach.Hi = append(reach.Lo, x.Min), append(reach.Hi, x.Max)
	}
	c.Layers = append(c.Layers, extent, reach, line)
	if len(wrong) > 0 {
		c.Layers = append(c.Layers, givenUp(wrong)...)
	}
	if unanswered > 0 {
		c.Layers = append(c.Layers, rug(trips, count(unanswered, "attempt")+" timed out"))
	}
}

// givenUp draws the answered calls that would have been given up on: a bar from the
// fastest to the slowest of a column, and a marker while they are few.
func givenUp(wrong []cell) []Layer {
	b := &Band{Name: "given up on, least to greatest", Role: Alarm, Solid: true}
	p := &Points{Name: "given up on, greatest", Role: Alarm}
	for _, x := range wrong {
		b.X, b.Width = append(b.X, x.At), append(b.Width, x.Width)
		b.Lo, b.Hi = append(b.Lo, x.Min), append(b.Hi, x.Max)
		p.X, p.Y = append(p.X, x.At), append(p.Y, x.Max)
	}
	if len(wrong) > fewCells {
		return []Layer{b}
	}
	return []Layer{b, p}
}

// timeoutTitle says how often the estimator would have been wrong.
func timeoutTitle(estimator string, s *adaptive.Score) string {
	if len(estimator) > 40 {
		estimator, _, _ = strings.Cut(estimator, ":")
	}
	if s.FalsePositives == 0 {
		return fmt.Sprintf("%s gives up on no answered call of %s", estimator, unit.Count(s.Attempts))
	}
	return fmt.Sprintf("%s gives up on %s (%s)", estimator, count(s.FalsePositives, "answered call"), percent(valueOr(s.Share.Value)))
}

func timeoutSubtitle(s *adaptive.Score) string {
	text := fmt.Sprintf("Replay of %s", count(s.Attempts, "attempt"))
	if s.FalsePositives > 0 {
		text += fmt.Sprintf("; orange: given up on, 95 %% interval %s to %s, attempts taken as independent",
			percent(valueOr(s.Share.Lo)), percent(valueOr(s.Share.Hi)))
	}
	p50, ok := s.DetectionP50.Value()
	p99, also := s.DetectionP99.Value()
	if ok && also {
		text += fmt.Sprintf("; a dead peer noticed after %s (p50), %s (p99)", format(p50), format(p99))
	}
	return text
}

func percent(share float64) string { return unbroken(unit.Format(share, "ratio")) }
