package datasets

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Point is what one line of another tool's log says of a clock: a row of a series trace.
// Signs follow θ, whatever the tool's own are: positive is a local clock that is slow, or
// loses. It has no stamps that could be checked, so it is never an Exchange.
type Point struct {
	At      Instant
	Outcome Outcome                 // replied, where the tool does not tell loss
	Offset  Optional[time.Duration] // θ
	// Value is what a file of phase or frequency data has at full precision: seconds of
	// phase or a fractional frequency, as the header's key "series" says.
	Value     Optional[float64]
	Frequency Optional[float64] // fractional rate error of the local clock, positive when it loses
	// Delay is the tool's own: a round trip in NTP, a path delay in PTP, the time a
	// reading took in phc2sys. The header's key "delay" says which.
	Delay Optional[time.Duration]
	// Error is what the tool takes Offset to be uncertain by; the header's key "error" says
	// what kind of number it is.
	Error  Optional[time.Duration]
	Status string // the tool's own word for the state it was in
	Extra  string // cells of columns this version does not know, tab-separated
}

// Kind returns SeriesKind.
func (p *Point) Kind() Kind { return SeriesKind }

func (p *Point) columns() []string {
	return []string{"at", "outcome", "offset", "value", "frequency", "delay", "error", "status"}
}

func (p *Point) parse(column int, text []byte) error {
	switch column {
	case 0:
		return parseInt(&p.At, text)
	case 1:
		return parseOutcome(&p.Outcome, text)
	case 2:
		return parseOptional(&p.Offset, text)
	case 3:
		return parseReal(&p.Value, text)
	case 4:
		return parseReal(&p.Frequency, text)
	case 5:
		return parseOptional(&p.Delay, text)
	case 6:
		return parseOptional(&p.Error, text)
	default:
		return parseText(&p.Status, text)
	}
}

func (p *Point) append(dst []byte, column int) []byte {
	switch column {
	case 0:
		return strconv.AppendInt(dst, int64(p.At), 10)
	case 1:
		return append(dst, p.Outcome.String()...)
	case 2:
		return appendOptional(dst, p.Offset)
	case 3:
		return appendReal(dst, p.Value)
	case 4:
		return appendReal(dst, p.Frequency)
	case 5:
		return appendOptional(dst, p.Delay)
	case 6:
		return appendOptional(dst, p.Error)
	default:
		return appendText(dst, p.Status)
	}
}

func (p *Point) check() error {
	if tooFar(p.At) {
		return far("at", int64(p.At))
	}
	for _, d := range []struct {
		column string
		value  Optional[time.Duration]
	}{{"offset", p.Offset}, {"delay", p.Delay}, {"error", p.Error}} {
		if v, ok := d.value.Value(); ok && (v > farthest || v < -farthest) {
			return fmt.Errorf(`%s "%d": more than 146 years`, d.column, v)
		}
	}
	return nil
}

func (p *Point) fields() []any {
	return []any{
		whole[Instant]{&p.At},
		outcomeField{&p.Outcome},
		perhaps[time.Duration]{&p.Offset},
		realField{&p.Value},
		realField{&p.Frequency},
		perhaps[time.Duration]{&p.Delay},
		perhaps[time.Duration]{&p.Error},
		textOf[string]{&p.Status},
	}
}

func (p *Point) extra() *string { return &p.Extra }
func (p *Point) reset()         { *p = Point{} }

// parseReal reads a decimal number that may have an exponent.
func parseReal(v *Optional[float64], text []byte) error {
	*v = Optional[float64]{}
	if isAbsent(text) {
		return nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("%s: want a number", clip(text))
	}
	*v = Some(f)
	return nil
}

// appendReal writes the shortest decimal that reads as the same number.
func appendReal(dst []byte, v Optional[float64]) []byte {
	f, ok := v.Value()
	if !ok {
		return append(dst, '-')
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
