package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/tickmark/tickmark/analysis/report"
)

// view is a report as the template shows it.
type view struct {
	Title, Subtitle string
	CSS             template.CSS
	Verdict         []string
	Changes         []Snippet
	Sections        []part
	Facts           []table
	Warnings        []string
	Doubts          string // "3 doubts"
}

// part is a section or a detail.
type part struct {
	ID, Title  string
	Paragraphs []string
	Figures    []figure
	Tables     []table
	Details    []part
}

type figure struct {
	Wide, Narrow template.HTML
	Data         template.URL // empty if the numbers are too many to carry along
	File         string
	Spec         string
}

// builder gives everything an id and keeps the first error.
type builder struct {
	figures, tables int
	err             error
}

func (b *builder) view(r *Report) *view {
	v := &view{
		Title: r.Title, Subtitle: r.Subtitle, CSS: css(), Verdict: r.Verdict, Changes: r.Changes, Warnings: r.Warnings,
		Doubts: doubts(len(r.Warnings)),
	}
	for i, s := range r.Sections {
		p := part{
			ID: fmt.Sprintf("evidence-%d", i+1), Title: s.Title, Paragraphs: paragraphs(s.Text),
			Figures: b.drawn(s.Figures), Tables: b.all(s.Tables),
		}
		for _, d := range s.Details {
			p.Details = append(p.Details, part{
				Title: d.Summary, Paragraphs: paragraphs(d.Text), Figures: b.drawn(d.Figures), Tables: b.all(d.Tables),
			})
		}
		v.Sections = append(v.Sections, p)
	}
	v.Facts = b.all(r.Facts)
	return v
}

func doubts(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 doubt"
	}
	return fmt.Sprintf("%d doubts", n)
}

func paragraphs(text string) []string {
	var kept []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

func (b *builder) all(tables []report.Table) []table {
	var out []table
	for i := range tables {
		b.tables++
		t := shown(&tables[i])
		t.ID = fmt.Sprintf("table-%d", b.tables)
		out = append(out, t)
	}
	return out
}

func (b *builder) drawn(figures []Figure) []figure {
	var out []figure
	for _, f := range figures {
		b.figures++
		d, err := draw(f, fmt.Sprintf("figure-%d", b.figures))
		if err != nil && b.err == nil {
			b.err = fmt.Errorf("figure %d: %w", b.figures, err)
		}
		out = append(out, d)
	}
	return out
}

// mostData is the largest CSV that is carried along in a page, in bytes.
const mostData = 64 << 10

func draw(f Figure, id string) (figure, error) {
	wide, err := f.Chart.InlineSVG(id, false)
	if err != nil {
		return figure{}, err
	}
	narrow, err := f.Chart.InlineSVG(id+"-narrow", true)
	if err != nil {
		return figure{}, err
	}
	// The SVGs are ours, and escape what is not.
	out := figure{Wide: template.HTML(wide), Narrow: template.HTML(narrow), Spec: f.Chart.Spec, File: fileName(f.Chart.Spec)}
	if f.Data != "" {
		out.Data = relative(f.Data)
		return out, nil
	}
	var csv bytes.Buffer
	if err := f.Chart.WriteCSV(&csv); err != nil {
		return figure{}, err
	}
	if csv.Len() <= mostData && f.Chart.Empty == "" {
		out.Data = template.URL("data:text/csv;charset=utf-8;base64," + base64.StdEncoding.EncodeToString(csv.Bytes()))
	}
	return out, nil
}

// relative lets only an address below the page through.
func relative(address string) template.URL {
	if regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_./-]*$`).MatchString(address) {
		return template.URL(address)
	}
	return ""
}

// fileName names a figure's data after the figure.
func fileName(spec string) string {
	name, _, _ := strings.Cut(spec, ":")
	if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(name) {
		name = "figure"
	}
	return name + ".csv"
}
