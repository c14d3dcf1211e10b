package plots

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

// svgHead is what an SVG says of itself.
type svgHead struct {
	id, title, desc string
	width, height   float64
	ground          bool // has a ground of its own, and stands in a file of its own
}

// writeSVG writes what was drawn on s with a head of our own: gonum/plot gives an
// SVG neither a title nor a fallback for its font, and fixes its size.
func writeSVG(w io.Writer, s *sheet, h svgHead) error {
	body, err := svgBody(s)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if h.ground {
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img"`,
		h.width, h.height, h.width, h.height)
	id := html.EscapeString(plain(h.id))
	t, d := id+"-title", id+"-desc"
	fmt.Fprintf(&b, ` aria-labelledby="%s %s" style="max-width:100%%;height:auto"`+
		` font-family="Liberation Sans,Arimo,Arial,Helvetica,sans-serif">`+"\n", t, d)
	fmt.Fprintf(&b, "<title id=\"%s\">%s</title>\n<desc id=\"%s\">%s</desc>\n",
		t, html.EscapeString(plain(h.title)), d, html.EscapeString(plain(h.desc)))
	if h.ground {
		fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", hex(s.theme, surface))
	}
	b.Write(body)
	_, err = w.Write(b.Bytes())
	return err
}

func hex(t Theme, r Role) string {
	c := t.color(r)
	return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B)
}

// svgBody returns what follows the opening tag, with each text given the width it
// has in Liberation Sans, so that another font of the browser's fills the same room.
func svgBody(s *sheet) ([]byte, error) {
	var raw bytes.Buffer
	if err := s.writeTo(&raw); err != nil {
		return nil, err
	}
	_, body, ok := bytes.Cut(raw.Bytes(), []byte("<svg"))
	if !ok {
		return nil, fmt.Errorf("svg: no <svg> in what was drawn")
	}
	_, body, _ = bytes.Cut(body, []byte(">\n"))
	var out bytes.Buffer
	for i := 0; ; i++ {
		before, after, more := bytes.Cut(body, []byte("<text "))
		out.Write(before)
		if !more {
			break
		}
		if i >= len(s.texts) {
			return nil, fmt.Errorf("svg: more texts than were drawn (%d)", len(s.texts))
		}
		fmt.Fprintf(&out, `<text textLength="%.1f" `, s.texts[i].width)
		body = after
	}
	return unstyled(out.Bytes()), nil
}

// unstyled leaves out of the texts' styles what the whole document has in common.
// Quotes in texts are escaped, so that this finds attributes alone.
func unstyled(svg []byte) []byte {
	for _, common := range []string{"font-family:Liberation Sans;font-variant:normal;", "font-weight:normal;", "font-style:normal;"} {
		svg = regexp.MustCompile(`(style="[^"]*?)`+common).ReplaceAll(svg, []byte("$1"))
	}
	return svg
}

// inlineSVG returns an SVG element whose colours are CSS custom properties.
func inlineSVG(s *sheet, h svgHead) (string, error) {
	var b bytes.Buffer
	if err := writeSVG(&b, s, h); err != nil {
		return "", err
	}
	var pairs []string
	for r := range roles {
		pairs = append(pairs, ":"+hex(s.theme, r), fmt.Sprintf(":var(--tm-%s,%s)", palette()[r].property, hex(s.theme, r)))
	}
	properties := strings.NewReplacer(pairs...)
	style := regexp.MustCompile(`style="[^"]*"`)
	return style.ReplaceAllStringFunc(b.String(), properties.Replace), nil
}
