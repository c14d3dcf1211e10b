package plots

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzTextStaysText holds that any text makes an SVG that an XML parser reads back as
// the same text, and a CSV that reads back too.
func FuzzTextStaysText(f *testing.F) {
	for _, s := range []string{"", "a", `"<&>'`, "\x00\x1b", "\xff", "\u202e", "]]>", "日本語", "\ufffe", "a\u00a0b", "x\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c := sample()
		c.Title, c.Caption, c.Notes[0].Text, c.Layers[2].(*Line).Name = s, s, s, s
		var svg, table bytes.Buffer
		if err := c.WriteSVG(&svg, Theme{}); err != nil {
			t.Fatal(err)
		}
		if title := titleOf(t, svg.String()); title != plain(s) || !utf8.ValidString(title) {
			t.Errorf("%q came back as %q", s, title)
		}
		if err := c.WriteCSV(&table); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&table).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		// encoding/csv reads the end of line it would write.
		if want := strings.ReplaceAll(s, "\r\n", "\n"); rows[8][0] != want {
			t.Errorf("%q came back as %q", want, rows[8][0])
		}
	})
}

// FuzzWrapLosesNothing holds that lines are no wider than asked, one character
// apart, and that together they are the text.
func FuzzWrapLosesNothing(f *testing.F) {
	types, err := newTypeface()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("a short text and averyveryverylongword:with=signs,in/it", 60.0)
	f.Add("", 0.0)
	f.Add("日本語 \x00", 5.0)
	f.Fuzz(func(t *testing.T, s string, width float64) {
		if len(s) > 2000 {
			t.Skip("quadratic, and no title is that long")
		}
		body := face{13, false}
		lines := types.wrap(body, s, width)
		for _, l := range lines {
			if types.width(body, l) > width && utf8.RuneCountInString(l) > 1 {
				t.Errorf("%q is wider than %g", l, width)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got, want := squeeze(strings.Join(lines, "")), squeeze(plain(s)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if w := types.fit(body, s, width); types.width(body, w) > width && utf8.RuneCountInString(w) > 1 {
			t.Errorf("%q does not fit into %g", w, width)
		}
	})
}

// FuzzScale holds that every number has a place on an axis, in order, and that ticks
// lie within.
func FuzzScale(f *testing.F) {
	f.Add(0.0, 1.0, 0.5, false)
	f.Add(-1.0, 1e9, 0.0, true)
	f.Add(1e-300, 1e300, 1.0, true)
	f.Add(5.0, 5.0, 5.0, false)
	f.Fuzz(func(t *testing.T, a, b, v float64, log bool) {
		r := emptyRange()
		axis := Axis{Label: "x", Unit: "s", Log: log}
		r.add(a, log)
		r.add(b, log)
		if d := b - a; d != d || d > 1e300 || d < -1e300 {
			t.Skip("beyond what a trace can hold")
		}
		s := newScale(axis, r)
		s.from, s.to = 0, 100
		if x := s.at(v); v == v && !(x >= 0 && x <= 100) {
			t.Errorf("%g is at %g between %g and %g", v, x, s.lo, s.hi)
		}
		last := -1.0
		for _, tick := range s.ticks(6) {
			if x := s.at(tick); x < last || s.label(tick) == "" {
				t.Errorf("tick %g at %g comes after %g", tick, x, last)
			} else {
				last = x
			}
		}
	})
}
