package plots

import (
	"flag"
	"fmt"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// bindPauses draws how long this process was not run, over time.
func bindPauses(*flag.FlagSet) func() (Figure, error) {
	return func() (Figure, error) { return pauses, nil }
}

func pauses(traces []Trace) (*Chart, error) {
	t, err := only("pauses", traces)
	if err != nil {
		return nil, err
	}
	if err := checkKind("pauses", t, datasets.Pauses); err != nil {
		return nil, err
	}
	reduced, all := newReducer(0), newHistogram()
	var summary analysis.PauseSummary
	var longest, row datasets.Pause
	for t.Rows.Next(&row) {
		reduced.add(row.At, row.Length)
		all.add(row.Length)
		summary.Add(&row)
		if row.Length >= longest.Length {
			longest = row
		}
	}
	if err := t.Rows.Err(); err != nil {
		return nil, err
	}
	c := &Chart{X: timeAxis(), Y: Axis{Label: "Length of the pause", Unit: "s", Log: true}, Caption: source(t)}
	observed, known := t.Rows.Header().Duration(datasets.KeyObserved)
	if known = known && time.Duration(longest.At) <= observed; known {
		summary.Observed = datasets.Some(observed)
		c.X.Include = []float64{0, observed.Seconds()}
	}
	if all.n == 0 {
		c.Title = "No pause was seen"
		c.Empty = t.Name + " holds no pauses" + watched(observed, known) + "."
		c.Desc = c.Empty
		return c, nil
	}
	fillPauses(c, reduced.cells(), longest)
	c.Title = fmt.Sprintf("%s%s, the longest %s", count(all.n, "pause"), watched(observed, known), inWords(longest.Length))
	c.Subtitle = pausesSubtitle(all.n, len(reduced.cells()), summary.Summary(0.95).PerHour, known)
	c.Desc = fmt.Sprintf("%s. Half of the pauses are longer than %s.", c.Subtitle, inWords(all.quantile(0.5)))
	return c, nil
}

func watched(observed time.Duration, known bool) string {
	if !known {
		return ""
	}
	return " in " + span(observed)
}

// fillPauses draws each column's least to greatest, and its greatest as a point.
func fillPauses(c *Chart, cells []cell, longest datasets.Pause) {
	extent := &Band{Name: "least to greatest", Role: Context, Solid: true}
	greatest := &Points{Name: "greatest", Role: Context, Ring: true}
	accent := &Points{
		Name: "longest", Role: Accent, X: []float64{seconds(longest.At)}, Y: []float64{seconds(longest.Length)},
		Labels: []string{joinNonEmpty(", ", inWords(longest.Length), longest.Cause)},
	}
	for _, x := range cells {
		if x.N > 1 || len(cells) > maxRings {
			extent.X, extent.Width = append(extent.X, x.At), append(extent.Width, x.Width)
			extent.Lo, extent.Hi = append(extent.Lo, x.Min), append(extent.Hi, x.Max)
		}
		if x.Max < seconds(longest.Length) && len(cells) <= maxRings {
			greatest.X, greatest.Y = append(greatest.X, x.At), append(greatest.Y, x.Max)
		}
	}
	c.Layers = append(c.Layers, extent, greatest, accent)
}

// maxRings is how many columns get a marker each; more would lie on each other.
const maxRings = 200

func pausesSubtitle(n int64, columns int, perHour analysis.Interval, known bool) string {
	text := "Each pause of this process"
	if n > int64(columns) {
		text = fmt.Sprintf("Pauses of this process, from the shortest to the longest in each of %s", count(int64(columns), "column"))
	}
	lo, ok1 := perHour.Lo.Value()
	hi, ok2 := perHour.Hi.Value()
	if v, ok := perHour.Value.Value(); ok && ok1 && ok2 && known {
		text += fmt.Sprintf("; %s per hour [%s,"+noBreak+"%s]", unit.Format(v, "count"), unit.Format(lo, "count"), unit.Format(hi, "count"))
	}
	return text
}
