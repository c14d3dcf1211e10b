package plots

import (
	"math"
	"slices"
	"strings"

	"github.com/tickmark/tickmark/analysis/unit"
)

// scale maps the numbers of an axis to pixels: lo to from, hi to to.
type scale struct {
	axis     Axis
	lo, hi   float64
	from, to float64
	prefix   unit.Prefix
}

// newScale covers a range with a margin, whatever the range is: a log axis survives
// zeros and a linear one a single value.
func newScale(a Axis, r trueRange) scale {
	s := scale{axis: a, lo: r.lo, hi: r.hi}
	switch {
	case r.empty() && a.Log:
		s.lo, s.hi = 1, 10
	case r.empty():
		s.lo, s.hi = 0, 1
	case a.Log:
		margin := math.Exp(max(0.03*(math.Log(r.hi)-math.Log(r.lo)), 0.02))
		if r.hi < 1.5*r.lo {
			margin = 1.5
		}
		s.lo, s.hi = max(r.lo/margin, math.SmallestNonzeroFloat64), min(r.hi*margin, math.MaxFloat64)
	default:
		if a.Clock && r.lo > 0 && r.lo < r.hi/4 {
			r.lo = 0
		}
		s.lo, s.hi = widen(r.lo, r.hi, a.Clock)
	}
	s.prefix = s.choose()
	return s
}

// widen adds a margin to a linear range. An end at zero stays there, and so does the
// range of a time, which begins at the start unless the trace was cut out of its middle.
func widen(lo, hi float64, clock bool) (float64, float64) {
	span := hi - lo
	if span == 0 {
		span = max(math.Abs(hi)/2, 1e-9)
		return lo - span, hi + span
	}
	if clock {
		return lo, hi
	}
	if lo != 0 {
		lo -= span * 0.05
	}
	if hi != 0 {
		hi += span * 0.05
	}
	return lo, hi
}

func (s scale) choose() unit.Prefix {
	greatest := max(math.Abs(s.lo), math.Abs(s.hi))
	switch {
	case s.axis.Log:
		return unit.Choose(s.axis.Unit, s.lo, s.hi)
	case s.axis.Clock:
		return clockUnit(greatest)
	}
	return unit.Choose(s.axis.Unit, greatest)
}

// clockUnit returns the unit for a stretch of time: an SI one below 3 minutes.
func clockUnit(seconds float64) unit.Prefix {
	switch {
	case seconds <= 180:
		return unit.Choose("s", seconds)
	case seconds <= 3*3600:
		return unit.Prefix{Factor: 1. / 60, Symbol: "min"}
	case seconds <= 4*86400:
		return unit.Prefix{Factor: 1. / 3600, Symbol: "h"}
	}
	return unit.Prefix{Factor: 1. / 86400, Symbol: "d"}
}

// at returns the pixel of v; what lies outside is put on the edge.
func (s scale) at(v float64) float64 { return s.from + s.share(v)*(s.to-s.from) }

// share returns how far along the axis v is, from 0 to 1.
func (s scale) share(v float64) float64 {
	lo, hi := s.lo, s.hi
	if s.axis.Log {
		v, lo, hi = math.Log(max(v, lo)), math.Log(lo), math.Log(hi)
	}
	return min(max((v-lo)/(hi-lo), 0), 1)
}

// title names the axis with its unit: "Round trip, ms".
func (s scale) title() string {
	if s.prefix.Symbol == "" {
		return s.axis.Label
	}
	return s.axis.Label + ", " + s.prefix.Symbol
}

// ticks returns about want round numbers in the range, in base units.
func (s scale) ticks(want int) []float64 {
	lo, hi := s.lo*s.prefix.Factor, s.hi*s.prefix.Factor
	var ticks []float64
	if s.axis.Log {
		ticks = logTicks(lo, hi, want)
	} else {
		ticks = unit.Ticks(lo, hi, want)
	}
	for i := range ticks {
		ticks[i] /= s.prefix.Factor
	}
	return ticks
}

// logTicks returns the powers of ten, with 2 and 5 times them if there is room for
// all, or every n-th power if there is not even for those.
func logTicks(lo, hi float64, want int) []float64 {
	fine := unit.LogTicks(lo, hi)
	if hi/lo >= 100 && hi/lo < 1e4 {
		middle := math.Sqrt(lo) * math.Sqrt(hi)
		fine = slices.Compact(append(unit.LogTicks(lo, middle), unit.LogTicks(middle, hi)...))
	}
	powers := slices.DeleteFunc(slices.Clone(fine), func(v float64) bool {
		e := math.Log10(v)
		return math.Abs(e-math.Round(e)) > 1e-9
	})
	if len(powers) < 2 || len(fine) <= want+2 {
		return fine
	}
	every := (len(powers) + want - 1) / want
	return slices.DeleteFunc(powers, func(v float64) bool { return int(math.Round(math.Log10(v)))%every != 0 })
}

// label writes a tick in the axis's unit.
func (s scale) label(tick float64) string {
	v := tick * s.prefix.Factor
	return strings.Replace(unit.Number(v, unit.Decimals(v, 9)), "-", "−", 1)
}
