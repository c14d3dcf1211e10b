package datasets

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Phase or frequency data, a value a line at equal distances, as Stable32, TimeLab and
// allantools read them: phase in units of time, frequency in Hz or as a fraction. Numbers
// alone do not say what they are, so that a file is recognised by a comment in its first
// line alone, "# phase, ns, tau0 1 s" or "# frequency, Hz, tau0 0.1 s, nominal 1e7"; other
// files have to be described.
type phaseFile struct {
	series, unit string
	tau0         time.Duration
	nominal      float64 // Hz
}

func bindPhase(fs *flag.FlagSet) func() (Format, error) {
	var p phaseFile
	fs.StringVar(&p.series, "series", "", "`what` the values are: phase or frequency")
	fs.StringVar(&p.unit, "unit", "", "`unit` of the values: s, ms, us, ns, ps of phase; Hz, 1 or ppm of frequency")
	fs.DurationVar(&p.tau0, "tau0", 0, "`distance` between two values")
	fs.Float64Var(&p.nominal, "nominal", 0, "`frequency` in Hz that is meant, where values are in Hz")
	return func() (Format, error) {
		if p.series != "" && p.series != "phase" && p.series != "frequency" {
			return nil, fmt.Errorf("series %q: want phase or frequency", p.series)
		}
		if p.tau0 < 0 || p.nominal < 0 {
			return nil, errors.New("tau0 and nominal must be positive")
		}
		return foreign{isPhase, byLine(func() dialect { return &phase{is: p} })}, nil
	}
}

func isPhase(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	_, ok := phaseComment(line)
	return ok
}

// phaseComment reads "# phase, s, tau0 1 s" and "# frequency, Hz, tau0 1 s, nominal 1e7".
func phaseComment(line []byte) (p phaseFile, ok bool) {
	text, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "#")
	parts := strings.Split(text, ",")
	if !ok || len(parts) < 3 {
		return p, false
	}
	p.series, p.unit = strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])
	if p.series != "phase" && p.series != "frequency" {
		return p, false
	}
	for _, part := range parts[2:] {
		name, value, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch name {
		case "tau0":
			d, err := parseNanos([]byte(strings.TrimSuffix(value, " s")), time.Second)
			if err != nil {
				return p, false
			}
			p.tau0 = d
		case "nominal":
			p.nominal, _ = strconv.ParseFloat(value, 64)
		}
	}
	return p, p.tau0 > 0
}

type phase struct {
	is    phaseFile
	scale func(float64) float64
	n     int64
}

func (p *phase) line(text []byte, out *rows) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] == '#' {
		if told, ok := phaseComment(text); ok && p.is.series == "" {
			p.is = told
		}
		return nil
	}
	if p.scale == nil {
		if err := p.describe(out); err != nil {
			return err
		}
	}
	s, _ := out.of(nil, SeriesKind, p.is.series+" data")
	at := s.since(time.Duration(p.n) * p.is.tau0)
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(v, 0) {
		return fmt.Errorf("%s: want one number", clip(text))
	}
	p.n++
	row := out.point(s)
	row.At = at
	if math.IsNaN(v) {
		row.Outcome = Invalid
		out.count("1 value is a gap (nan)", "%d values are gaps (nan)")
		return nil
	}
	row.Value = Some(p.scale(v))
	return nil
}

func (*phase) end(*rows) error { return nil }

// describe begins the series, once it is known what the values are.
func (p *phase) describe(out *rows) error {
	f := &p.is
	if f.series == "" || f.tau0 <= 0 {
		return errors.New("nothing says what the numbers are: --series phase or frequency, --tau0 DURATION")
	}
	// Whole powers of ten to divide by: their inverses are no binary fractions.
	scales := map[string]float64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9, "ps": 1e12}
	if f.series == "frequency" {
		scales = map[string]float64{"1": 1, "ppm": 1e6, "ppb": 1e9, "Hz": 0}
	}
	if f.unit == "" {
		f.unit = map[string]string{"phase": "s", "frequency": "1"}[f.series]
		if f.nominal > 0 {
			f.unit = "Hz"
		}
		out.say("the unit is not told: values are taken as %s", map[string]string{"s": "seconds", "1": "fractions", "Hz": "Hz"}[f.unit])
	}
	by, ok := scales[f.unit]
	switch {
	case !ok:
		return fmt.Errorf("unit %q of %s: want s, ms, us, ns or ps; of a frequency Hz, 1, ppm or ppb", f.unit, f.series)
	case f.unit == "Hz" && f.nominal <= 0:
		return errors.New("a frequency in Hz needs --nominal HZ, to be a fraction of it")
	case f.unit == "Hz":
		p.scale = func(v float64) float64 { return v/f.nominal - 1 }
	default:
		p.scale = func(v float64) float64 { return v / by }
	}
	s, _ := out.of(nil, SeriesKind, f.series+" data")
	s.Header.Set("series", f.series)
	s.Header.Set("value", map[string]string{"phase": "seconds", "frequency": "fraction of the nominal frequency"}[f.series])
	s.Header.SetDuration("tau0", f.tau0)
	return nil
}
