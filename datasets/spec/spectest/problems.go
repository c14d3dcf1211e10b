package spectest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tickmark/tickmark/datasets/spec"
)

// problems collects what is wrong, one line each.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func tableProblems[T any](table spec.Table[T]) problems {
	var p problems
	if len(table) == 0 {
		p.add("it is empty")
	}
	seen := map[string]bool{}
	for _, name := range table.Names() {
		if seen[name] {
			p.add("name %q is taken twice", name)
		}
		seen[name] = true
	}
	return p
}

func entryProblems[T any](noun string, table spec.Table[T], e spec.Entry[T]) problems {
	var p problems
	p.word("name", e.Name)
	p.line("summary", e.Summary)
	for _, o := range e.Options() {
		p.word("option", o.Name)
		p.line("usage of "+o.Name, o.Usage)
	}
	refusals(&p, noun, table, e)
	canonical(&p, noun, table, e)
	return p
}

func (p *problems) word(what, word string) {
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(word) {
		p.add("%s %q: want lower case words joined by hyphens", what, word)
	}
}

func (p *problems) line(what, line string) {
	switch {
	case line == "" || strings.TrimSpace(line) != line || strings.ContainsAny(line, "\n\t"):
		p.add("%s %q: want one line of text", what, line)
	case strings.HasSuffix(line, "."):
		p.add("%s %q: want no full stop", what, line)
	case len([]rune(line)) > 100:
		p.add("%s %q: want at most 100 characters", what, line)
	}
	// An abbreviation or a name of one letter may begin it: "NTP server", "T_D".
	if first := []rune(line + "  "); unicode.IsUpper(first[0]) && unicode.IsLower(first[1]) {
		p.add("%s %q: want it to begin in lower case", what, line)
	}
}

// refusals mistypes what a user might.
func refusals[T any](p *problems, noun string, table spec.Table[T], e spec.Entry[T]) {
	refused(p, noun, table, e.Name+"~", e.Name)
	refused(p, noun, table, e.Name+":no-such-option=1", "no-such-option")
	for _, o := range e.Options() {
		if len(o.Name) > 1 { // one letter and a slip are two wrong halves
			refused(p, noun, table, e.Name+":"+o.Name+"~=1", o.Name)
		}
		refused(p, noun, table, e.Name+":"+o.Name+`="`, o.Name)
	}
}

// refused holds that text is a usage error of one line which says the word.
func refused[T any](p *problems, noun string, table spec.Table[T], text, says string) {
	_, _, err := table.Parse(noun, text)
	var usage *spec.UsageError
	switch {
	case !errors.As(err, &usage):
		p.add("%s: got error %v, want a usage error", text, err)
	case !strings.Contains(usage.Msg, `"`+says+`"`) || strings.Contains(usage.Msg, "\n"):
		p.add("%s: error %q: want one line that says %q", text, usage.Msg, says)
	}
}

// canonical builds the defaults twice, the second time from the form the first gave,
// which has to give itself and to name every option in order.
func canonical[T any](p *problems, noun string, table spec.Table[T], e spec.Entry[T]) {
	_, form, err := table.Parse(noun, e.Name)
	if err != nil {
		p.add("%s: the defaults do not build: %v", e.Name, err)
		return
	}
	_, again, err := table.Parse(noun, form)
	if err != nil || again != form {
		p.add("canonical form %q gives %q, error %v; want itself", form, again, err)
	}
	var names []string
	for _, o := range e.Options() {
		names = append(names, o.Name)
		if !strings.Contains(form, o.Name+"=") {
			p.add("canonical form %q leaves out %q", form, o.Name)
		}
	}
	if !slices.IsSorted(names) {
		p.add("options %q are not sorted", names)
	}
}
