package plots

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// point is a place on a sheet: pixels from its upper left corner.
type point struct{ x, y float64 }

// sheet is what a chart is drawn on; it hides gonum/plot from the rest.
type sheet struct {
	canvas vg.CanvasWriterTo
	fonts  *typeface
	theme  Theme
	height float64
	texts  []placed // in the order in which they were drawn
}

// placed is a text that was drawn, and the room it takes.
type placed struct {
	text  string
	width float64
	room  box
}

// newSheet returns an empty SVG or PNG sheet. A PNG has 2 dots for each pixel.
func newSheet(t Theme, types *typeface, width, height float64, raster bool) *sheet {
	s := &sheet{fonts: types, theme: t, height: height}
	w, h := vg.Length(width), vg.Length(height)
	if raster {
		// A vg length of 1 is 1/72 inch, so that 144 dots an inch are 2 for each.
		s.canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(144),
			vgimg.UseBackgroundColor(t.color(surface)))}
	} else {
		s.canvas = vgsvg.New(w, h)
	}
	return s
}

func (s *sheet) writeTo(w io.Writer) error {
	_, err := s.canvas.WriteTo(w)
	return err
}

// pen is how a line is drawn; widths and dashes in pixels.
type pen struct {
	role  Role
	width float64
	dash  []float64
}

// strokeLength limits the points of one stroke: the time gonum/plot takes to draw a
// line into a PNG grows with the square of its points.
const strokeLength = 64

// stroke draws a line through points.
func (s *sheet) stroke(p pen, points ...point) {
	dashes := make([]vg.Length, len(p.dash))
	for i, d := range p.dash {
		dashes[i] = vg.Length(d)
	}
	s.canvas.SetLineWidth(vg.Length(p.width))
	s.canvas.SetColor(s.theme.color(p.role))
	var walked vg.Length
	for len(points) > 1 {
		n := min(len(points), strokeLength)
		if _, vector := s.canvas.(*vgsvg.Canvas); vector {
			n = len(points)
		}
		s.canvas.SetLineDash(dashes, walked)
		path, length := s.path(points[:n])
		s.canvas.Stroke(path)
		walked += length
		points = points[n-1:]
	}
}

// fill fills the polygon with corners at points; share is how much of what lies
// below is covered.
func (s *sheet) fill(r Role, share float64, points ...point) {
	c := s.theme.color(r)
	s.canvas.SetColor(translucent{c, share})
	path, _ := s.path(points)
	path.Close()
	s.canvas.Fill(path)
}

// translucent is a colour that lets through what lies below. Its premultiplied
// numbers are rounded up, because gonum/plot rounds down when it divides again, and
// an SVG is to say the very colour of the palette.
type translucent struct {
	hue   color.RGBA
	share float64
}

// RGBA returns the premultiplied colour, as color.Color asks.
func (t translucent) RGBA() (r, g, b, a uint32) {
	a = uint32(t.share*0xFFFF + 0.5)
	up := func(v uint8) uint32 { return (uint32(v)*a + 254) / 255 }
	return up(t.hue.R), up(t.hue.G), up(t.hue.B), a
}

func (s *sheet) path(points []point) (vg.Path, vg.Length) {
	path := make(vg.Path, 0, len(points)+1)
	var length vg.Length
	for i, p := range points {
		at := vg.Point{X: vg.Length(p.x), Y: vg.Length(s.height - p.y)}
		if i == 0 {
			path.Move(at)
			continue
		}
		step := at.Sub(path[i-1].Pos)
		length += vg.Length(math.Hypot(float64(step.X), float64(step.Y)))
		path.Line(at)
	}
	return path, length
}

// text draws one line with its baseline starting at a point.
func (s *sheet) text(at point, f face, r Role, text string) {
	if text = plain(text); text == "" {
		return
	}
	s.canvas.SetColor(s.theme.color(r))
	s.canvas.FillString(s.fonts.sized(f), vg.Point{X: vg.Length(at.x), Y: vg.Length(s.height - at.y)}, text)
	width := s.fonts.width(f, text)
	s.texts = append(s.texts, placed{text, width, box{at.x, at.y - 0.72*f.size, at.x + width, at.y + 0.21*f.size}})
}

// face is a size of Liberation Sans, in pixels.
type face struct {
	size float64
	bold bool
}

// typeface measures text.
type typeface struct{ regular, bold *opentype.Font }

func newTypeface() (*typeface, error) {
	regular, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("liberation sans: %w", err)
	}
	bold, err := opentype.Parse(liberationsansbold.TTF)
	if err != nil {
		return nil, fmt.Errorf("liberation sans bold: %w", err)
	}
	return &typeface{regular, bold}, nil
}

func (t *typeface) sized(f face) font.Face {
	descriptor := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(f.size)}
	if f.bold {
		descriptor.Weight = stdfont.WeightBold
		return font.Face{Font: descriptor, Face: t.bold}
	}
	return font.Face{Font: descriptor, Face: t.regular}
}

// width returns how wide a text is, in pixels.
func (t *typeface) width(f face, text string) float64 {
	sized := t.sized(f)
	return float64(sized.Width(text))
}
