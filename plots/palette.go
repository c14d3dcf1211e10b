package plots

import (
	"fmt"
	"image/color"
	"strings"
)

// Role says what a colour is for; a theme says which colour it is. What differs in
// colour differs in dash or marker too, so that a figure can be printed in grey.
type Role uint8

// The roles of what is drawn: one accent for what matters, grey for context, and
// three more where kinds have to be told apart.
const (
	Context Role = iota // zero value: nothing to look at
	Accent
	Alarm
	Third
	Fourth
	ink     // text that is read first
	muted   // other text, axes
	grid    //
	surface // what the figure lies on
	roles
)

// Theme is how a chart is drawn; the zero Theme is light and wide.
type Theme struct {
	Dark   bool
	Narrow bool // for a page on a screen 360 px wide

	inline bool // the page around it has a margin
}

// hue is one colour of both palettes and its CSS custom property.
type hue struct {
	property    string
	light, dark color.RGBA
}

// palette takes the data's colours from Okabe and Ito's set (Color Universal
// Design, 2008), which most colour-blind readers can tell apart; where one is too
// faint on its ground the other theme's one is used. Within a theme no two are
// equal, by which an inline SVG finds them again.
func palette() [roles]hue {
	return [roles]hue{
		Context: {"context", rgb(0x8C959F), rgb(0x7D8792)},
		Accent:  {"accent", rgb(0x0072B2), rgb(0x56B4E9)},
		Alarm:   {"alarm", rgb(0xD55E00), rgb(0xE69F00)},
		Third:   {"third", rgb(0x009E73), rgb(0x009E73)},
		Fourth:  {"fourth", rgb(0xCC79A7), rgb(0xCC79A7)},
		ink:     {"ink", rgb(0x1F2328), rgb(0xE6EDF3)},
		muted:   {"muted", rgb(0x57606A), rgb(0x9DA7B3)},
		grid:    {"grid", rgb(0xDFE3E8), rgb(0x2C333B)},
		surface: {"surface", rgb(0xFFFFFF), rgb(0x14181D)},
	}
}

func (t Theme) color(r Role) color.RGBA {
	h := palette()[r]
	if t.Dark {
		return h.dark
	}
	return h.light
}

// textRole is the colour of words about a thing drawn in role: only the accent and
// the alarm are dark enough to be read.
func textRole(r Role) Role {
	switch r {
	case Accent:
		return Accent
	case Context, muted:
		return muted
	default:
		return ink
	}
}

// dash is the pattern of a line in role, in pixels; nil is a solid line.
func dash(r Role) []float64 {
	switch r {
	case Alarm:
		return []float64{7, 3}
	case Third:
		return []float64{2, 2.5}
	case Fourth:
		return []float64{8, 3, 2, 3}
	default:
		return nil
	}
}

func rgb(v uint32) color.RGBA {
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}
}

// CSS returns the theme's colours as the custom properties that inline SVGs use:
// "--tm-accent:#0072B2;…".
func (t Theme) CSS() string {
	var b strings.Builder
	for r, h := range palette() {
		fmt.Fprintf(&b, "--tm-%s:%s;", h.property, hex(t, Role(r)))
	}
	return b.String()
}
