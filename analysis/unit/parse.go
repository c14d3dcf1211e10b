package unit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Parse reads a quantity a user typed and returns it in unit: "50ms" is 0.05 s,
// "0.1%" is a ratio of 0.001, "3" a count of 3. A time needs its unit; other plain
// numbers are already in base units. Everything Format writes is read. The error
// quotes text and says what was wanted.
func Parse(text, unit string) (float64, error) {
	v, err := parse(strings.TrimSpace(text), unit)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not %s", text, wanted(unit))
	}
	return v, nil
}

var errNumber = errors.New("not a number")

func parse(text, unit string) (float64, error) {
	end := strings.LastIndexAny(text, "0123456789.") + 1
	number, symbol := text[:end], strings.TrimSpace(text[end:])
	for _, s := range readable(unit) {
		if s.symbol == symbol {
			if v, err := shifted(number, s.exponent); err == nil {
				return v, nil
			}
		}
	}
	if unit != "s" && unit != "ns" {
		return 0, errNumber
	}
	return compound(text, symbol, unit)
}

// compound reads the times that are no power of ten: 2m, 1h30m.
func compound(text, symbol, unit string) (float64, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case symbol == "":
		return 0, errNumber
	case unit == "ns":
		return float64(d), nil
	}
	return d.Seconds(), nil
}

// readable returns every power of ten of the unit a user may write.
func readable(unit string) []scale {
	ways, _ := scales(unit)
	switch unit {
	case "s":
		return append(ways, scale{"us", -6}, scale{"μs", -6}, scale{"ps", -12})
	case "ns":
		return append(ways, scale{"us", 3}, scale{"μs", 3}, scale{"ps", -3})
	case "ppm":
		return []scale{{"", 0}, {"ppm", 0}, {"ppb", -3}}
	}
	return append(ways, scale{"", 0}, scale{unit, 0})
}

// shifted returns number × 10^exponent as if it had been typed so: 0.1% is the
// float nearest to 0.001, which 0.1/100 need not be.
func shifted(number string, exponent int) (float64, error) {
	number, err := ungroup(number)
	if err != nil || strings.ContainsAny(number, "xX_") {
		return 0, errNumber
	}
	mantissa, power, has := strings.Cut(strings.ToLower(number), "e")
	if has {
		own, err := strconv.Atoi(power)
		if err != nil {
			return 0, err
		}
		exponent += own
	}
	return strconv.ParseFloat(mantissa+"e"+strconv.Itoa(exponent), 64)
}

// ungroup takes thousands apart, if they are where group puts them.
func ungroup(number string) (string, error) {
	if !strings.Contains(number, ",") {
		return number, nil
	}
	plain := strings.ReplaceAll(number, ",", "")
	if group(plain) != number {
		return "", errNumber
	}
	return plain, nil
}

func wanted(unit string) string {
	switch unit {
	case "s", "ns":
		return `a time with its unit, such as "250ms"`
	case "ratio":
		return `a share such as "0.1%" or "0.001"`
	case "count", "":
		return "a number"
	}
	return fmt.Sprintf(`a number of %s, such as "5%s"`, unit, unit)
}
