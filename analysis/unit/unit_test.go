package unit

import "testing"

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{0.00346, "s", "3.46 ms"},
		{0.0062, "ratio", "0.62 %"},
		{36887, "count", "36,887"},
		{0.05, "s", "50 ms"},
		{0.0009996, "s", "1.00 ms"},
		{-12.3e-9, "s", "-12.3 ns"},
		{86400, "s", "86,400 s"},
		{12.3456, "ppm", "12.3 ppm"},
		{1.234e-12, "", "1.23e-12"},
		{0, "s", "0 s"},
		{1536, "B", "1.54 kB"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}
