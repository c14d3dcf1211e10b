package datasets

import (
	"fmt"
	"strings"
	"time"
)

// parseDecimal reads a plain decimal number of units as whole nanoseconds, exactly:
// a float64 would lose the nanoseconds of a time since 1970. Digits below one
// nanosecond are cut off.
func parseDecimal(text string, unit time.Duration) (time.Duration, error) {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	var n time.Duration
	if whole == "" && fraction == "" {
		return 0, notDecimal(text)
	}
	if whole != "" && !allDigits([]byte(whole)) || fraction != "" && !allDigits([]byte(fraction)) {
		return 0, notDecimal(text)
	}
	if whole != "" {
		if err := parseInt(&n, []byte(whole)); err != nil || n > (1<<63-1)/unit-1 {
			return 0, fmt.Errorf("%s: too large", clip([]byte(text)))
		}
	}
	n *= unit
	for _, digit := range fraction {
		unit /= 10
		n += time.Duration(digit-'0') * unit
	}
	if negative {
		n = -n
	}
	return n, nil
}

func notDecimal(text string) error {
	return fmt.Errorf("%s: want a decimal number", clip([]byte(text)))
}
