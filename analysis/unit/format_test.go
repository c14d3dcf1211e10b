package unit

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{0.00346, "s", "3.46 ms"}, // these three: product text, what-people-see
		{0.0062, "ratio", "0.62 %"},
		{36887, "count", "36,887"},
		{0.05, "s", "50 ms"}, // a timeout that was set, not measured
		{0.0500001, "s", "50.0 ms"},
		{0.0009996, "s", "1.00 ms"}, // rounds into the next prefix
		{0.0009994, "s", "999 µs"},
		{-12.3e-9, "s", "-12.3 ns"},
		{2e-12, "s", "0.002 ns"},
		{86400, "s", "86,400 s"}, // no prefix above the second
		{1234.56, "s", "1,235 s"},
		{25_000, "ns", "25 µs"},
		{12.3456, "ppm", "12.3 ppm"},
		{1.234e-12, "", "1.23e-12"},
		{1.5e15, "count", "1.50e+15"},
		{1536, "B", "1.54 kB"}, // SI: k is 1000
		{25e6, "Hz", "25 MHz"},
		{1, "ratio", "100 %"},
		{3, "packets", "3 packets"},
		{0, "s", "0 s"},
		{0, "ratio", "0 %"},
		{0, "B", "0 B"},
		{math.Copysign(0, -1), "s", "0 s"},
		{-1e-20, "count", "-1e-20"},
		{math.NaN(), "s", "–"},
		{math.Inf(1), "count", "–"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{1234567.891, 2, "1,234,567.89"},
		{-999.999, 2, "-1,000.00"},
		{-0.001, 2, "0.00"}, // not "-0.00"
		{0.05, 0, "0"},
		{12, 1, "12.0"},
		{2.7116e-6, 9, "2.712e-6"}, // as many digits as there would have been
		{1e-12, 7, "1e-12"},        // and the first when there would have been none
		{0, 14, "0"},
	} {
		if got := Number(c.v, c.decimals); got != c.want {
			t.Errorf("Number(%v, %d) = %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
}

// A column's prefix suits its middle; one tiny value does not spoil it.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name   string
		unit   string
		values []float64
		want   Prefix
	}{
		{"a tail", "s", []float64{0.061, 0.418, 0.04, 0.449}, Prefix{1e3, "ms"}},
		{"milliseconds to seconds", "s", []float64{0.061, 3}, Prefix{1e3, "ms"}},
		{"milliseconds to a minute", "s", []float64{0.061, 45}, Prefix{1, "s"}},
		{"a nanosecond of noise", "s", []float64{1e-9, 0.2, 0.4}, Prefix{1e3, "ms"}},
		{"signs do not matter", "s", []float64{-5e-6, 4e-6, 0}, Prefix{1e6, "µs"}},
		{"nothing but zeros", "s", []float64{0, math.NaN(), math.Inf(1)}, Prefix{1, "s"}},
		{"nothing", "B", nil, Prefix{1, "B"}},
		{"no share at all", "ratio", nil, Prefix{100, "%"}},
		{"a day", "s", []float64{86400}, Prefix{1, "s"}},
		{"counts get none", "count", []float64{1e6}, Prefix{1, ""}},
		{"nor do ppm", "ppm", []float64{1e6}, Prefix{1, "ppm"}},
		{"the smallest there is", "s", []float64{1e-15}, Prefix{1e9, "ns"}},
	} {
		if got := Choose(c.unit, c.values...); got != c.want {
			t.Errorf("%s: Choose(%q, %v) = %v, want %v", c.name, c.unit, c.values, got, c.want)
		}
	}
}

func TestCountGroupsDigits(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", 36887: "36,887", -100: "-100",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

// What Format writes, Parse reads, within half a unit of the third digit.
func FuzzFormat(f *testing.F) {
	f.Add(0.00346, uint8(0))
	f.Add(-999.5e-6, uint8(1))
	f.Add(1e-30, uint8(4))
	f.Add(123456789.5, uint8(3))
	f.Fuzz(func(t *testing.T, v float64, which uint8) {
		if math.IsNaN(v) || math.Abs(v) > 1e300 || v != 0 && math.Abs(v) < 1e-300 {
			return
		}
		units := []string{"s", "ns", "ratio", "count", "", "ppm", "B", "Hz"}
		unit := units[int(which)%len(units)]
		text := Format(v, unit)
		back, err := Parse(text, unit)
		if err != nil || math.Abs(back-v) > 0.00501*math.Abs(v) {
			t.Fatalf("%v %s is shown as %q and read as %v, %v", v, unit, text, back, err)
		}
		number, _, _ := strings.Cut(text, " ")
		shown, _ := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if unit == "s" && math.Abs(v) >= 1e-9 && math.Abs(v) < 999 && (math.Abs(shown) < 1 || math.Abs(shown) > 1000) {
			t.Fatalf("%v s is shown as %q, want 1 to 1,000 of something", v, text)
		}
	})
}

func FuzzCount(f *testing.F) {
	f.Add(int64(-36887))
	f.Fuzz(func(t *testing.T, n int64) {
		text := Count(n)
		if plain := strings.ReplaceAll(text, ",", ""); plain != strconv.FormatInt(n, 10) {
			t.Fatalf("Count(%d) = %q", n, text)
		}
		for i, part := range strings.Split(strings.TrimPrefix(text, "-"), ",") {
			if i > 0 && len(part) != 3 || i == 0 && (part == "" || len(part) > 3) {
				t.Fatalf("Count(%d) = %q: %q is no group", n, text, part)
			}
		}
	})
}
