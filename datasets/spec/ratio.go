package spec

import (
	"errors"
	"flag"
	"math"
	"strconv"
	"strings"
)

// Ratio declares a share of one, written 0.1%, 99.9 % or 0.999.
func Ratio(fs *flag.FlagSet, name string, value float64, usage string) *float64 {
	r := ratio(value)
	fs.Var(&r, name, usage)
	return (*float64)(&r)
}

type ratio float64

func (r *ratio) String() string { return FormatRatio(float64(*r)) }
func (r *ratio) Get() any       { return float64(*r) }
func (r *ratio) Wanted() string { return `a share such as "99.9%" or "0.999"` }

func (r *ratio) Set(text string) error {
	v, err := ParseRatio(text)
	*r = ratio(v)
	return err
}

// ParseRatio reads a share of one: "99.9%" and "0.999" are the same number.
func ParseRatio(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("not a share")
	}
	if !percent {
		return v, nil
	}
	// Shifting the decimal point in the text keeps 99.9% equal to 0.999 to the bit.
	return strconv.ParseFloat(strings.TrimSpace(number)+"e-2", 64)
}

// FormatRatio writes a share as a percentage that ParseRatio reads back exactly.
func FormatRatio(r float64) string {
	text := strconv.FormatFloat(r*100, 'g', 15, 64) + "%"
	if back, err := ParseRatio(text); err == nil && back == r {
		return text
	}
	return strconv.FormatFloat(r, 'g', -1, 64)
}
