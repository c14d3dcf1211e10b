// Package spectest holds a [spec.Table] to what every table promises, so that a new
// entry needs no test of its own for its name, help and canonical form.
package spectest

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tickmark/tickmark/datasets/spec"
)

// Check walks table, whose entries are called noun in errors: names and summaries are
// well formed, options have help and readable defaults, defaults build, the canonical
// form is a fixed point, and a mistyped name or option is refused with the right one.
func Check[T any](t *testing.T, noun string, table spec.Table[T]) {
	t.Helper()
	if len(table) == 0 {
		t.Fatalf("the table of %ss is empty", noun)
	}
	seen := map[string]bool{}
	for _, e := range table {
		t.Run(e.Name, func(t *testing.T) {
			if seen[e.Name] {
				t.Errorf("name %q is taken twice", e.Name)
			}
			seen[e.Name] = true
			checkWords(t, e.Name, e.Summary)
			for _, o := range e.Options() {
				checkOption(t, o)
			}
			checkRefusals(t, noun, table, e)
			checkCanonical(t, noun, table, e)
		})
	}
}

func checkWords(t *testing.T, name, summary string) {
	t.Helper()
	if !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(name) {
		t.Errorf("name %q: want lower case words joined by hyphens", name)
	}
	checkLine(t, "summary", summary)
}

func checkLine(t *testing.T, what, line string) {
	t.Helper()
	switch {
	case line == "" || strings.TrimSpace(line) != line || strings.ContainsAny(line, "\n\t"):
		t.Errorf("%s %q: want one line of text", what, line)
	case strings.HasSuffix(line, "."):
		t.Errorf("%s %q: want no full stop", what, line)
	case len([]rune(line)) > 100:
		t.Errorf("%s %q: want at most 100 characters", what, line)
	}
	if first := []rune(line + "  "); unicode.IsUpper(first[0]) && unicode.IsLower(first[1]) {
		t.Errorf("%s %q: want a lower case beginning", what, line)
	}
}

func checkOption(t *testing.T, o spec.Option) {
	t.Helper()
	if strings.ContainsAny(o.Name, `=,:"[] `) || o.Name != strings.ToLower(o.Name) {
		t.Errorf("option %q: want a lower case word", o.Name)
	}
	checkLine(t, "usage of "+o.Name, o.Usage)
}

func checkRefusals[T any](t *testing.T, noun string, table spec.Table[T], e spec.Entry[T]) {
	t.Helper()
	refused(t, noun, table, e.Name+"~", e.Name)
	refused(t, noun, table, e.Name+":no-such-option=1", "no-such-option")
	for _, o := range e.Options() {
		near, _ := spec.Nearest(o.Name+"~", optionNames(e))
		refused(t, noun, table, e.Name+":"+o.Name+"~=1", near)
	}
}

// refused holds that text is a usage error which says the word.
func refused[T any](t *testing.T, noun string, table spec.Table[T], text, says string) {
	t.Helper()
	_, _, err := table.Parse(noun, text)
	var usage *spec.UsageError
	switch {
	case !errors.As(err, &usage):
		t.Errorf("%s: got error %v, want a usage error", text, err)
	case !strings.Contains(usage.Msg, says) || strings.Contains(usage.Msg, "\n"):
		t.Errorf("%s: error %q: want one line that says %q", text, usage.Msg, says)
	}
}

func optionNames[T any](e spec.Entry[T]) []string {
	var names []string
	for _, o := range e.Options() {
		names = append(names, o.Name)
	}
	return names
}

// checkCanonical builds the defaults, twice: the second time from what the first gave
// as its canonical form, which has to give itself and to name every option.
func checkCanonical[T any](t *testing.T, noun string, table spec.Table[T], e spec.Entry[T]) {
	t.Helper()
	_, canonical, err := table.Parse(noun, e.Name)
	if err != nil {
		t.Fatalf("%s: the defaults do not build: %v", e.Name, err)
	}
	_, again, err := table.Parse(noun, canonical)
	if err != nil || again != canonical {
		t.Errorf("canonical form %q gives %q, error %v; want itself", canonical, again, err)
	}
	names := optionNames(e)
	if !slices.IsSorted(names) {
		t.Errorf("options %q are not sorted", names)
	}
	for _, name := range names {
		if !strings.Contains(canonical, name+"=") {
			t.Errorf("canonical form %q leaves out %q", canonical, name)
		}
	}
}
