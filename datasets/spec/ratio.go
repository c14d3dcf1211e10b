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

// ParseRatio reads a share of one: "99.9%" and "0.999" are the same number, to the bit.
func ParseRatio(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	number = strings.TrimSpace(number)
	if percent {
		number = hundredth(number)
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(number, "xX_") {
		return 0, errNotShare
	}
	return v, nil
}

// hundredth moves the decimal point in the text, because 99.9/100 is not the float
// nearest to 0.999.
func hundredth(number string) string {
	mantissa, power, has := strings.Cut(strings.ToLower(number), "e")
	if !has {
		return number + "e-2"
	}
	exponent, err := strconv.Atoi(power)
	if err != nil {
		return ""
	}
	return mantissa + "e" + strconv.Itoa(exponent-2)
}

var errNotShare = errors.New("not a share")

// FormatRatio writes a share as a percentage that ParseRatio reads back exactly, or,
// where there is none that a person would write, as the number.
func FormatRatio(r float64) string {
	text := strconv.FormatFloat(r*100, 'g', 15, 64) + "%"
	if back, err := ParseRatio(text); err == nil && back == r && !strings.Contains(text, "e") {
		return text
	}
	return strconv.FormatFloat(r, 'g', -1, 64)
}
