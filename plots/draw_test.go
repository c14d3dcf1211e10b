package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// sample is a small chart with every kind of layer.
func sample() *Chart {
	return &Chart{
		Title: "Title: what was found", Subtitle: "Subtitle: what is shown, from how much", Caption: "x.trace", Spec: "rtt",
		Desc: "Description.",
		X:    Axis{Label: "Time since start", Unit: "s", Clock: true},
		Y:    Axis{Label: "Round trip", Unit: "s", Log: true},
		Layers: []Layer{
			&Band{Name: "extent", X: []float64{1, 2, 4}, Width: []float64{1, 1, 1}, Lo: []float64{1e-3, 2e-3, 1e-3}, Hi: []float64{9e-3, 2e-3, 5e-2}, Solid: true},
			&Band{Name: "interval", X: []float64{0, 5, 6, 10}, Lo: []float64{1e-3, 2e-3, absent(), 1e-3}, Hi: []float64{2e-3, 3e-3, 4e-3, 2e-3}, Role: Third},
			&Line{Name: "line", X: []float64{0, 4, 5, 10}, Y: []float64{3e-3, 8e-3, absent(), 4e-3}, Role: Accent},
			&Line{Name: "steps", X: []float64{0, 4, 10}, Y: []float64{2e-2, 4e-3, 4.1e-3}, Role: Fourth, Step: true},
			&Points{Name: "points", X: []float64{3, 6}, Y: []float64{3e-2, 3e-2}, Labels: []string{"first", ""}, Role: Alarm, Ring: true},
			&Rug{Name: "two lost", X: []float64{2, 7}, Role: Alarm},
			&Level{Name: "limit", Y: 1e-2},
			&Censored{Name: "not known", From: 8.5},
		},
		Notes: []Note{{X: 5, Y: 2e-2, Text: "a note", Role: Accent}},
	}
}

// TestGolden holds what a chart looks like; look at it in a browser when it changes.
func TestGolden(t *testing.T) {
	empty := &Chart{Title: "Nothing to draw", Empty: "The trace holds nothing.", X: Axis{Label: "x"}, Y: Axis{Label: "y", Log: true}}
	for name, c := range map[string]*Chart{"sample": sample(), "empty": empty} {
		for suffix, theme := range map[string]Theme{"": {}, "-dark": {Dark: true}, "-narrow": {Narrow: true}} {
			var svg bytes.Buffer
			if err := c.WriteSVG(&svg, theme); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", name+suffix+".svg"), svg.Bytes())
		}
	}
	inline, err := sample().InlineSVG("figure-1", false)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/sample-inline.svg", []byte(inline))
	var csv bytes.Buffer
	if err := sample().WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/sample.csv", csv.Bytes())
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is drawn now; go test -update rewrites it", path)
	}
}

// TestTextsHaveRoom holds, for every demonstration in every form, that no text lies
// on another one and none leaves the sheet.
func TestTextsHaveRoom(t *testing.T) {
	charts := demos(t)
	charts["sample"] = sample()
	for name, c := range charts {
		for _, theme := range []Theme{{}, {Narrow: true}} {
			s, width, err := c.render(theme, false)
			if err != nil {
				t.Fatal(err)
			}
			sheet := box{0, 0, width, s.height}
			for i, a := range s.texts {
				if !a.room.within(sheet) {
					t.Errorf("%s %+v: %q leaves the sheet: %+v", name, theme, a.text, a.room)
				}
				for _, b := range s.texts[:i] {
					if a.room.overlaps(b.room) {
						t.Errorf("%s %+v: %q lies on %q", name, theme, a.text, b.text)
					}
				}
			}
		}
	}
}

func TestPNGHasTwoDotsAPixel(t *testing.T) {
	for _, theme := range []Theme{{}, {Dark: true}, {Narrow: true}} {
		s, width, err := sample().render(theme, true)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := sample().WritePNG(&b, theme); err != nil {
			t.Fatal(err)
		}
		im, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if size := im.Bounds().Size(); size.X != int(2*width) || size.Y != int(2*s.height) {
			t.Errorf("%+v: %v for %g x %g pixels", theme, size, width, s.height)
		}
		want := theme.color(surface)
		if r, g, bl, _ := im.At(1, 1).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(bl>>8) != want.B {
			t.Errorf("%+v: the ground is %v, want %v", theme, im.At(1, 1), want)
		}
	}
}

// TestHostileNamesStayText holds that what a trace is called cannot become markup,
// and that any bytes make an SVG that an XML parser reads.
func TestHostileNamesStayText(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><svg onload=x>`, `' onload='x`, "]]>", "a\x00b\x1b[31mc\x7f", "\xff\xfe", "&lt;&#x3c;",
		"\u202egnp.exe", "style=\"fill:#0072B2\"", strings.Repeat("W", 4000), "-->", "",
	} {
		c := sample()
		c.Title, c.Subtitle, c.Caption, c.Desc = name, name, name, name
		c.Layers[2].(*Line).Name, c.Layers[5].(*Rug).Name, c.Notes[0].Text, c.Y.Label = name, name, name, name
		var svg bytes.Buffer
		if err := c.WriteSVG(&svg, Theme{}); err != nil {
			t.Fatal(err)
		}
		inline, err := c.InlineSVG(`a"><script>`, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{svg.String(), inline} {
			if title := titleOf(t, text); title != plain(name) {
				t.Errorf("%q: the title reads %q", name, title)
			}
		}
	}
}

// titleOf reads an SVG to its end, holds that it has only drawing in it, and returns
// its title.
func titleOf(t *testing.T, svg string) string {
	t.Helper()
	title, within := "", ""
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return title
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, svg)
		}
		switch v := token.(type) {
		case xml.StartElement:
			within = v.Name.Local
			if !strings.Contains(" svg title desc g path text rect ", " "+within+" ") {
				t.Errorf("element %q", within)
			}
			for _, a := range v.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("attribute %q", a.Name.Local)
				}
			}
		case xml.CharData:
			if within == "title" {
				title += string(v)
			}
		case xml.EndElement:
			within = ""
		}
	}
}

// TestInlineColoursAreProperties holds that a page decides every colour.
func TestInlineColoursAreProperties(t *testing.T) {
	inline, err := sample().InlineSVG("f", false)
	if err != nil {
		t.Fatal(err)
	}
	rest := regexp.MustCompile(`var\(--tm-[a-z]+,#[0-9A-F]{6}\)`).ReplaceAllString(inline, "")
	if m := regexp.MustCompile(`#[0-9A-Fa-f]{6}`).FindString(rest); m != "" || !strings.Contains(inline, "var(--tm-accent,#0072B2)") {
		t.Errorf("a colour of its own: %q", m)
	}
}

// TestContrast holds texts to 4.5 and marks to 3, the ratios of WCAG 2.1 (1.4.3 and
// 1.4.11, level AA).
func TestContrast(t *testing.T) {
	for _, theme := range []Theme{{}, {Dark: true}} {
		ground := theme.color(surface)
		seen := map[color.RGBA]bool{}
		for r := range roles {
			c := theme.color(r)
			if seen[c] {
				t.Errorf("%+v: colour %v twice", theme, c)
			}
			seen[c] = true
			least := 3.0
			switch r {
			case ink, muted, Accent:
				least = 4.5
			case grid, surface:
				continue
			case Fourth, Context:
				least = 2.8 // always with a dash or a marker of its own
			default:
			}
			if got := contrast(c, ground); got < least {
				t.Errorf("%+v: role %d has contrast %.2f, want %g", theme, r, got, least)
			}
		}
	}
}

func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is WCAG 2.1's relative luminance.
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
