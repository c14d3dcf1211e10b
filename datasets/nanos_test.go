package datasets

import (
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestNanos(t *testing.T) {
	for _, c := range []struct {
		text string
		unit time.Duration
		want time.Duration
	}{
		{"1.250e-04", time.Second, 125 * time.Microsecond},
		{"-3.000e-05", time.Second, -30 * time.Microsecond},
		{"1.2345e-06", time.Second, 1235}, // half away from zero
		{"-1.2345e-06", time.Second, -1235},
		{"1234567890.123456789", time.Second, 1234567890123456789},
		{"0.0000004", time.Millisecond, 0},
		{"0.0000005", time.Millisecond, 1},
		{"+5", time.Nanosecond, 5},
		{".5", time.Second, 500 * time.Millisecond},
		{"5.", time.Second, 5 * time.Second},
		{"0e99999999", time.Second, 0},
		{"1e-99999999", time.Second, 0},
		{"9.223372036854775807e9", time.Second, 1<<63 - 1},
	} {
		if got, err := parseNanos([]byte(c.text), c.unit); got != c.want || err != nil {
			t.Errorf("%s × %v = %d, %v; want %d", c.text, c.unit, got, err, c.want)
		}
	}
	for _, text := range []string{"", "-", ".", "1,5", "e5", "1e", "1e+", "0x10", "1 ", "inf", "nan", "9.3e9", "1e30"} {
		if got, err := parseNanos([]byte(text), time.Second); err == nil {
			t.Errorf("%q = %d; want an error", text, got)
		}
	}
}

// Arithmetic with fractions of any size says the same.
func FuzzNanos(f *testing.F) {
	f.Add("1.2345e-06")
	f.Add("-9223372036.854775807")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseNanos([]byte(text), time.Second)
		if err != nil || strings.Trim(text, "+-.0123456789eE") != "" || len(text) > 19 {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok && strings.ContainsAny(text, "eE") {
			return // big.Rat has no exponents as large
		} else if !ok {
			t.Fatalf("%q: no number", text)
		}
		off := want.Mul(want, big.NewRat(int64(time.Second), 1)).Sub(want, big.NewRat(int64(got), 1))
		if off.Abs(off).Cmp(big.NewRat(1, 2)) > 0 {
			t.Errorf("%q: %d is off by %v ns", text, got, off)
		}
	})
}
