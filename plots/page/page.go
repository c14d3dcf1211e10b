package page

import (
	"bytes"
	_ "embed" // for the template and the style sheet
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/plots"
)

// Report is what a run found and how. All texts are plain.
type Report struct {
	Title, Subtitle string
	Verdict         []string // at most MaxVerdict sentences, each with its number and interval
	Changes         []Snippet
	Sections        []Section
	Facts           []report.Table // header facts, the instrument's own errors, versions, the command, digests
	Warnings        []string
}

// MaxVerdict is how many sentences a verdict may have.
const MaxVerdict = 5

// Snippet is a piece of configuration, ready to copy, its evidence in its comments.
type Snippet struct{ Title, Language, Text string }

// Section is one part of the evidence. Paragraphs of its text are apart by an empty
// line.
type Section struct {
	Title, Text string
	Figures     []Figure
	Tables      []report.Table
	Details     []Detail
}

// Detail is what is folded away until it is asked for.
type Detail struct {
	Summary, Text string
	Figures       []Figure
	Tables        []report.Table
}

// Figure is a chart and where its numbers are: at Data, an address relative to the
// page, or if that is empty within the page, unless they are many.
type Figure struct {
	Chart *plots.Chart
	Data  string
}

var (
	//go:embed page.html
	markup string
	//go:embed page.css
	style string
)

// Render writes the report as an HTML page. It writes nothing if that fails.
func Render(w io.Writer, r Report) error {
	if n := len(r.Verdict); n > MaxVerdict {
		return fmt.Errorf("page: the verdict has %d sentences: want at most %d", n, MaxVerdict)
	}
	b := &builder{}
	v := b.view(&r)
	if b.err != nil {
		return fmt.Errorf("page: %w", b.err)
	}
	t, err := template.New("page").Parse(markup)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, v); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// css returns the style sheet with the colours of the figures.
func css() template.CSS {
	colours := strings.NewReplacer("/*light*/", plots.Theme{}.CSS(), "/*dark*/", plots.Theme{Dark: true}.CSS())
	return template.CSS(colours.Replace(style)) // ours alone: nothing a user wrote is in it
}
