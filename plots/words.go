package plots

import (
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tickmark/tickmark/analysis/unit"
)

// plain makes any text one line that XML can hold: control characters, marks that
// turn the writing direction, and broken UTF-8 become U+FFFD.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return ' '
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029,
			r&0xFFFE == 0xFFFE:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// count writes "1 call", "2 calls", "12,000 calls".
func count(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return unit.Count(n) + " " + one + "s"
}

// capital writes the first letter large.
func capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// wrap breaks a text between words, and a word that is too wide within, into lines
// no wider than width.
func (t *typeface) wrap(f face, text string, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.FieldsFunc(plain(text), func(r rune) bool { return r == ' ' }) {
		joined := word
		if line != "" {
			joined = line + " " + word
		}
		if t.width(f, joined) <= width {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for line = word; line != "" && t.width(f, line) > width; {
			n := t.prefix(f, line, width)
			lines, line = append(lines, line[:n]), line[n:]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// prefix returns how many bytes of a word fit into width, at least one character: up
// to the last sign after which a spec, a path or an address can be broken, if there
// is one.
func (t *typeface) prefix(f face, word string, width float64) int {
	_, fits := utf8.DecodeRuneInString(word)
	for i, r := range word {
		end := i + utf8.RuneLen(r)
		if i > 0 && t.width(f, word[:end]) > width {
			break
		}
		fits = max(fits, end)
	}
	if sign := strings.LastIndexAny(word[:fits], ",:/="); sign > 0 && fits < len(word) {
		return sign + 1
	}
	return fits
}

// fit shortens a text to width, an ellipsis for what is left out in its middle.
func (t *typeface) fit(f face, text string, width float64) string {
	text = plain(text)
	if t.width(f, text) <= width {
		return text
	}
	letters := []rune(text)
	shortened := func(kept int) string {
		return string(letters[:(kept+1)/2]) + "…" + string(letters[len(letters)-kept/2:])
	}
	tooMany := sort.Search(len(letters), func(kept int) bool { return t.width(f, shortened(kept)) > width })
	return shortened(max(tooMany-1, 0))
}

// inWords writes a duration with its unit, three digits of it: "50 ms".
func inWords(d time.Duration) string { return format(seconds(d)) }

// format writes seconds with a fitting unit, the space before it not to be broken.
func format(seconds float64) string { return unbroken(unit.Format(seconds, "s")) }

func unbroken(number string) string {
	return strings.NewReplacer(" ", noBreak, "-", "−").Replace(number)
}

const noBreak = "\u00a0"

// span writes how long something was watched: "42 s", "10 min", "3.5 h".
func span(d time.Duration) string {
	p := clockUnit(d.Seconds())
	v := d.Seconds() * p.Factor
	return p.With(unit.Number(v, unit.Decimals(v, 3)))
}
