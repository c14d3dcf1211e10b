package plots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/datasets"
)

// only returns the trace of a figure that draws one.
func only(figure string, traces []Trace) (Trace, error) {
	if len(traces) != 1 {
		return Trace{}, fmt.Errorf("%s: draws one trace, got %d", figure, len(traces))
	}
	return traces[0], nil
}

// several checks that there are traces, and no more than can be told apart.
func several(figure string, traces []Trace) error {
	if most := len(seriesRoles()); len(traces) < 1 || len(traces) > most {
		return fmt.Errorf("%s: draws 1 to %d traces, got %d", figure, most, len(traces))
	}
	return nil
}

// seriesRoles are the roles of traces that stand side by side.
func seriesRoles() []Role { return []Role{Accent, Alarm, Third, Fourth, Context} }

// eachSample hands every round trip of a trace to take.
func eachSample(figure string, t Trace, take func(*datasets.Sample)) error {
	if err := checkKind(figure, t, datasets.RTT, datasets.Exchanges); err != nil {
		return err
	}
	var m datasets.Sample
	for t.Rows.Next(&m) {
		take(&m)
	}
	return t.Rows.Err()
}

func checkKind(figure string, t Trace, kinds ...datasets.Kind) error {
	have := t.Rows.Header().Kind()
	if slices.Contains(kinds, have) {
		return nil
	}
	return fmt.Errorf("%s: %s holds rows of kind %q; want %s", figure, t.Name, have, either(kinds))
}

func either(kinds []datasets.Kind) string {
	quoted := make([]string, len(kinds))
	for i, k := range kinds {
		quoted[i] = fmt.Sprintf("%q", k)
	}
	return strings.Join(quoted, " or ")
}

// source names where the numbers of a chart come from, with the absolute start.
func source(traces ...Trace) string {
	text := ""
	for _, t := range traces {
		h := t.Rows.Header()
		text = joinNonEmpty(" · ", text, joinNonEmpty(", ", t.Name, about(h)))
	}
	return text
}

func about(h *datasets.Header) string {
	text := h.Text(datasets.KeyProbe)
	if target := h.Text(datasets.KeyTarget); target != "" {
		text = joinNonEmpty(" ", text, "to "+target)
	}
	if at, ok := h.Epoch(); ok {
		text = joinNonEmpty(", ", text, "from "+at.UTC().Format("2006-01-02 15:04:05 MST"))
	}
	return text
}

// hole returns the distance of two neighbours in a series from which on they are not
// joined: nothing was measured between them.
func hole(at []float64) float64 {
	var steps []float64
	for i := 1; i < len(at); i++ {
		steps = append(steps, at[i]-at[i-1])
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	return 6 * steps[len(steps)/2]
}

// medianLine joins the medians of cells, broken where the recording had a hole.
func medianLine(cells []cell) *Line {
	l := &Line{Role: muted, Thin: true, NoEnd: true, Name: "median"}
	var at []float64
	for _, c := range cells {
		at = append(at, c.At)
	}
	limit := hole(at)
	for i, c := range cells {
		if i > 0 && c.At-cells[i-1].At > limit {
			l.X, l.Y = append(l.X, c.At), append(l.Y, absent())
		}
		if c.N > 0 {
			l.X, l.Y = append(l.X, c.At), append(l.Y, c.Mid)
		}
	}
	return l
}

// splitCells returns the extents of the columns that stay within limit, and of
// those that do not.
func splitCells(cells []cell, limit float64) (within, beyond *Band) {
	within = &Band{Name: "least to greatest", Role: Context, Solid: true}
	beyond = &Band{Name: "least to greatest, slow", Role: Accent, Solid: true}
	for _, c := range cells {
		b := within
		if c.Max > limit {
			b = beyond
		}
		if c.N > 0 {
			b.X, b.Width = append(b.X, c.At), append(b.Width, c.Width)
			b.Lo, b.Hi = append(b.Lo, c.Min), append(b.Hi, c.Max)
		}
	}
	return within, beyond
}

// rug marks the cells in which something without a value happened.
func rug(cells []cell, name string) *Rug {
	r := &Rug{Name: name, Role: Alarm}
	for _, c := range cells {
		if c.Marks > 0 {
			r.X = append(r.X, c.At)
		}
	}
	return r
}

// fewCells is up to where each column gets a marker, so that one can be told apart
// from its neighbours.
const fewCells = 60

func medianPoints(cells []cell) *Points {
	p := &Points{Name: "median", Role: Context}
	for _, c := range cells {
		if c.N > 0 {
			p.X, p.Y = append(p.X, c.At), append(p.Y, c.Mid)
		}
	}
	return p
}

func timeAxis() Axis {
	return Axis{Label: "Time since start", Unit: "s", Clock: true}
}
