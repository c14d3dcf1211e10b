package unit

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		want       float64
	}{
		{"50ms", "s", 0.05},
		{"50 ms", "s", 0.05},
		{"0s", "s", 0},
		{"-2.5us", "s", -2.5e-6},
		{"7µs", "s", 7e-6},
		{"7μs", "s", 7e-6}, // the Greek letter, not the micro sign
		{"20ps", "s", 20e-12},
		{"0.5ns", "s", 0.5e-9}, // finer than time.Duration
		{"2m", "s", 120},
		{"1h30m", "s", 5400},
		{"1m30s", "s", 90},
		{"1e3ms", "s", 1},
		{"86,400 s", "s", 86400},
		{"50ms", "ns", 5e7},
		{"1m", "ns", 6e10},
		{"0.1%", "ratio", 0.001},
		{"99.9 %", "ratio", 0.999},
		{"0.001", "ratio", 0.001},
		{"3", "count", 3},
		{"36,887", "count", 36887},
		{"1e6", "count", 1e6},
		{"-1.5", "", -1.5},
		{"15", "ppm", 15},
		{"15ppm", "ppm", 15},
		{"3ppb", "ppm", 0.003},
		{"1.5 MB", "B", 1.5e6},
		{"512", "B", 512},
		{"10kHz", "Hz", 1e4},
		{"3 packets", "packets", 3},
	} {
		got, err := Parse(c.text, c.unit)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q, %q) = %v, %v; want %v", c.text, c.unit, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ text, unit, want string }{
		{"50", "s", `"50" is not a time with its unit, such as "250ms"`},
		{"0", "s", `"0" is not a time with its unit, such as "250ms"`},
		{"50", "ns", `"50" is not a time with its unit, such as "250ms"`},
		{"50%", "s", `"50%" is not a time with its unit, such as "250ms"`},
		{"1_0ms", "s", `"1_0ms" is not a time with its unit, such as "250ms"`},
		{"ms", "s", `"ms" is not a time with its unit, such as "250ms"`},
		{"5ms", "ratio", `"5ms" is not a share such as "0.1%" or "0.001"`},
		{"nan", "ratio", `"nan" is not a share such as "0.1%" or "0.001"`},
		{"1e400", "count", `"1e400" is not a number`},
		{"0x10", "count", `"0x10" is not a number`},
		{"3,68", "count", `"3,68" is not a number`},
		{"3%", "count", `"3%" is not a number`},
		{"", "", `"" is not a number`},
		{"inf", "", `"inf" is not a number`},
		{"5 ms", "ppm", `"5 ms" is not a number of ppm, such as "5ppm"`},
		{"5KB", "B", `"5KB" is not a number of B, such as "5B"`},
	} {
		v, err := Parse(c.text, c.unit)
		if err == nil || err.Error() != c.want {
			t.Errorf("Parse(%q, %q) = %v, %v; want the error %s", c.text, c.unit, v, err, c.want)
		}
	}
}

// Every duration Go reads that says its unit is read the same, to the nanosecond Go
// stops at.
func FuzzParseTime(f *testing.F) {
	f.Add("1h2m3.5s")
	f.Add("-0.25us")
	f.Add(".5ms")
	f.Add("9223372036s")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := time.ParseDuration(text)
		if err != nil || strings.Trim(text, "+-0") == "" {
			return
		}
		got, err := Parse(text, "s")
		if err != nil || math.Abs(got-d.Seconds()) > 30e-9+1e-15*math.Abs(got) {
			t.Fatalf("Parse(%q) = %v, %v; time.ParseDuration says %v", text, got, err, d)
		}
	})
}

// A plain number is never a time, and is in every other unit what strconv says.
func FuzzParsePlain(f *testing.F) {
	f.Add(0.001)
	f.Add(-1e300)
	f.Fuzz(func(t *testing.T, v float64) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		text := precise(v)
		for _, unit := range []string{"ratio", "count", "", "ppm", "B", "Hz"} {
			if got, err := Parse(text, unit); err != nil || got != v {
				t.Fatalf("Parse(%q, %q) = %v, %v; want %v", text, unit, got, err, v)
			}
		}
		if got, err := Parse(text, "s"); err == nil {
			t.Fatalf("Parse(%q, \"s\") = %v, want an error", text, got)
		}
	})
}
