package spec_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickmark/tickmark/datasets/spec"
)

func TestRatio(t *testing.T) {
	for _, c := range []struct {
		text      string
		want      float64
		canonical string
	}{
		{"99.9%", 0.999, "99.9%"},
		{"99.9 %", 0.999, "99.9%"},
		{"0.999", 0.999, "99.9%"},
		{"0.1%", 0.001, "0.1%"},
		{"7%", 0.07, "7%"}, // 7.0/100 and 7e-2 agree, 0.07*100 is 7.000000000000001
		{"0", 0, "0%"},
		{"150%", 1.5, "150%"},
		{"-5%", -0.05, "-5%"},
		{"1e-3%", 1e-5, "0.001%"},
		{"1E+2%", 1, "100%"},
		{"1e-9", 1e-9, "1e-09"},
	} {
		got, err := spec.ParseRatio(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseRatio(%q) = %v, %v; want %v", c.text, got, err, c.want)
		}
		if form := spec.FormatRatio(got); form != c.canonical {
			t.Errorf("FormatRatio(%v) = %q, want %q", got, form, c.canonical)
		}
	}
	for _, text := range []string{"", "%", "lots", "NaN", "inf%", "1e400", "0x10%", "0x1p-2", "1e%", "1e-1e2%", "5%%", "1,5%", "0E0_0", "0_1%"} {
		if got, err := spec.ParseRatio(text); err == nil {
			t.Errorf("ParseRatio(%q) = %v, want an error", text, got)
		}
	}
}

// A share of any size is written so that it comes back to the bit, and a percentage
// is the hundredth of what was typed. (An exponent of twenty digits is not typed.)
func FuzzRatio(f *testing.F) {
	f.Add(0.999, "99.9")
	f.Add(1e-7, "1e-5")
	f.Add(5e-324, "+.5e+1")
	f.Fuzz(func(t *testing.T, r float64, number string) {
		if math.IsNaN(r) || math.IsInf(r, 0) {
			return
		}
		if back, err := spec.ParseRatio(spec.FormatRatio(r)); err != nil || back != r {
			t.Errorf("%v is written %q and read as %v, %v", r, spec.FormatRatio(r), back, err)
		}
		plain, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsInf(plain, 0) || math.IsNaN(plain) || strings.ContainsAny(number, "xX_") || len(number) > 12 {
			return
		}
		share, err := spec.ParseRatio(number + "%")
		if err != nil || math.Abs(share-plain/100) > 4e-16*math.Abs(plain/100)+1e-323 {
			t.Errorf("%q%% is %v, %v; want about %v", number, share, err, plain/100)
		}
	})
}

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1m": time.Minute, "1h": time.Hour, "1h30m": 90 * time.Minute, "10m": 10 * time.Minute,
		"1h0m1s": time.Hour + time.Second, "250ms": 250 * time.Millisecond, "-2m": -2 * time.Minute, "100h": 100 * time.Hour,
	} {
		if got := spec.Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func FuzzDuration(f *testing.F) {
	f.Add(int64(0))
	f.Add(int64(math.MinInt64))
	f.Add(int64(3600e9))
	f.Fuzz(func(t *testing.T, ns int64) {
		text := spec.Duration(time.Duration(ns))
		if back, err := time.ParseDuration(text); err != nil || int64(back) != ns {
			t.Errorf("%d ns is written %q and read as %v, %v", ns, text, back, err)
		}
	})
}
