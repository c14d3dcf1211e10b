package plots

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tickmark/tickmark/analysis"
	"github.com/tickmark/tickmark/analysis/unit"
	"github.com/tickmark/tickmark/datasets"
)

// survivalLevel is the confidence of the band around a survival function.
const survivalLevel = 0.95

// bindSurvival draws the share of calls slower than each round trip.
func bindSurvival(*flag.FlagSet) func() (Figure, error) {
	return func() (Figure, error) { return survival, nil }
}

// tail is a distribution with what its slowest calls are known to exceed.
type tail struct {
	answered *histogram
	timedOut int64
	listen   time.Duration // 0 is unknown
}

func (t *tail) n() int64 { return t.answered.n + t.timedOut }

func survival(traces []Trace) (*Chart, error) {
	if err := several("survival", traces); err != nil {
		return nil, err
	}
	c := &Chart{
		X: Axis{Label: "Round trip from due time", Unit: "s", Log: true},
		Y: Axis{Label: "Calls slower than that", Unit: "ratio", Log: true, Include: []float64{1}},
	}
	tails := make([]*tail, len(traces))
	for i, t := range traces {
		var err error
		if tails[i], err = readTail(t); err != nil {
			return nil, err
		}
		if tails[i].answered.n > 0 {
			c.addTail(tails[i], t.Name, seriesRoles()[i], len(traces) > 1)
		}
	}
	c.addCensored(tails)
	c.Caption = source(traces...)
	c.Title, c.Empty = survivalTitle(traces, tails)
	c.Subtitle = survivalSubtitle(tails) + c.Subtitle
	c.Desc = c.Subtitle + "."
	return c, nil
}

func readTail(t Trace) (*tail, error) {
	s := &tail{answered: newHistogram()}
	err := eachSample("survival", t, func(m *datasets.Sample) {
		if d, ok := m.Latency(); ok {
			s.answered.add(d)
		} else if m.Outcome == datasets.TimedOut {
			s.timedOut++
			deadline, _ := m.Deadline.Value()
			s.listen = max(s.listen, deadline)
		}
	})
	if d, ok := t.Rows.Header().Duration(datasets.KeyListen); ok {
		s.listen = d
	}
	return s, err
}

// addTail adds the survival function and its band. Both change only where the share
// does by enough to be seen, or the round trip by a pixel.
func (c *Chart) addTail(t *tail, name string, role Role, named bool) {
	line := &Line{Name: name, Role: role, Step: true, NoEnd: !named}
	band := &Band{Name: name + ", 95 % interval", Role: role, Clip: true}
	slower, drawn := t.n(), int64(math.MaxInt64)
	x := max(seconds(t.answered.min), 1e-9)
	line.X, line.Y = append(line.X, x), append(line.Y, 1)
	bounded := int64(math.MaxInt64)
	for b, k := range t.answered.counts {
		if k == 0 {
			continue
		}
		slower -= k
		_, hi := fineBuckets.bounds(b)
		at := max(seconds(min(time.Duration(hi), t.answered.max)), 1e-9)
		if at < x*1.004 && float64(slower) > 0.99*float64(drawn) && slower > t.timedOut {
			continue
		}
		x, drawn = at, slower
		line.X, line.Y = append(line.X, x), append(line.Y, share(slower, t.n()))
		if slower > 0 && (float64(slower) < 0.9*float64(bounded) || slower == t.timedOut) {
			bounded = slower
			i := analysis.ClopperPearson(slower, t.n(), survivalLevel)
			band.X, band.Lo, band.Hi = append(band.X, x), append(band.Lo, valueOr(i.Lo)), append(band.Hi, valueOr(i.Hi))
		}
	}
	if t.timedOut > 0 && seconds(t.listen) > x {
		line.X, line.Y = append(line.X, seconds(t.listen)), append(line.Y, share(t.timedOut, t.n()))
	}
	c.Layers = append(c.Layers, band, line)
}

func share(k, n int64) float64 {
	if k == 0 {
		return absent() // a log axis has no place for it
	}
	return float64(k) / float64(n)
}

func valueOr(o datasets.Optional[float64]) float64 {
	if v, ok := o.Value(); ok {
		return v
	}
	return absent()
}

// addCensored hatches what lies beyond the moment at which nobody listened any more,
// if some calls got that far.
func (c *Chart) addCensored(tails []*tail) {
	from, lost := time.Duration(0), int64(0)
	for _, t := range tails {
		if t.timedOut > 0 && t.listen > 0 && (from == 0 || t.listen < from) {
			from = t.listen
		}
		lost += t.timedOut
	}
	if from == 0 {
		return
	}
	c.X.Include = []float64{seconds(from) * 3}
	c.Layers = append(c.Layers, &Censored{Name: "not known", From: seconds(from)})
	c.Subtitle = fmt.Sprintf("; hatched: nobody listened beyond %s, where %s timed out", inWords(from), count(lost, "call"))
}

func survivalSubtitle(tails []*tail) string {
	var n int64
	for _, t := range tails {
		n += t.n()
	}
	text := fmt.Sprintf("Share of %s that took longer", count(n, "call"))
	if len(tails) > 1 {
		text += fmt.Sprintf(", %d traces", len(tails))
	}
	return text + "; band: exact 95 % interval at each point, calls taken as independent"
}

// survivalTitle says how slow the slowest calls are that so many samples can tell,
// and why there is nothing to draw if nothing was answered.
func survivalTitle(traces []Trace, tails []*tail) (title, empty string) {
	var n, answered int64
	var with []int // indices of the traces in which something was answered
	q := 1.0
	for i, t := range tails {
		n, answered = n+t.n(), answered+t.answered.n
		if t.answered.n > 0 {
			with, q = append(with, i), min(q, t.farthest())
		}
	}
	switch {
	case answered == 0:
		return "No answers: nothing to draw", fmt.Sprintf("None of %s was answered.", count(n, "attempt"))
	case q == 0:
		return count(answered, "call") + " answered: too few to say how slow the slow ones are", ""
	case len(with) == 1:
		t := tails[with[0]]
		return fmt.Sprintf("%s takes over %s; half take over %s", capital(oneIn(q)), inWords(t.quantile(q)), inWords(t.quantile(0.5))), ""
	}
	slices.SortStableFunc(with, func(a, b int) int { return cmp.Compare(tails[a].quantile(q), tails[b].quantile(q)) })
	fastest, slowest := with[0], with[len(with)-1]
	return fmt.Sprintf("%s takes over %s at %s, over %s at %s", capital(oneIn(q)), inWords(tails[slowest].quantile(q)),
		traces[slowest].Name, inWords(tails[fastest].quantile(q)), traces[fastest].Name), ""
}

// farthest returns the farthest of the usual quantiles that a two-sided interval can
// be given for and that is not beyond the moment at which listening ended; 0 if
// there is none.
func (t *tail) farthest() float64 {
	for _, q := range []float64{0.9999, 0.999, 0.99, 0.9} {
		if t.n() >= int64(analysis.NeededN(q, survivalLevel)) && q*float64(t.n()) <= float64(t.answered.n) {
			return q
		}
	}
	return 0
}

// quantile ranks calls that timed out above all others.
func (t *tail) quantile(q float64) time.Duration {
	return t.answered.quantile(q * float64(t.n()) / float64(t.answered.n))
}

func oneIn(q float64) string {
	return "one call in " + unit.Count(int64(math.Round(1/(1-q))))
}
