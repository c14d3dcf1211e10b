package spec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/datasets/spec"
)

func TestNearest(t *testing.T) {
	names := []string{"fixed", "jacobson", "quantile", "false_positives", "k"}
	for text, want := range map[string]string{
		"fxed":          "fixed",
		"Jacobsen":      "jacobson",
		"quantil":       "quantile",
		"FALSE":         "false_positives", // the beginning of a name, whatever its case
		"fa":            "",                // two letters begin too much
		"k":             "k",
		"kk":            "k",
		"elephant":      "",
		"":              "",
		"fixedfixedfix": "",
	} {
		if got, ok := spec.Nearest(text, names); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	many := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "l", "m", "n"}
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"estimaters", []string{"levels", "estimators"}, `unknown table "estimaters": did you mean "estimators"?`},
		{"xyz", []string{"levels", "estimators"}, `unknown table "xyz": want levels, estimators`},
		{"xyz", many, `unknown table "xyz"`},
		{"xyz", nil, `unknown table "xyz"`},
	} {
		err := spec.Unknown("table", c.name, c.names)
		var usage *spec.UsageError
		if !errors.As(err, &usage) || usage.Msg != c.want {
			t.Errorf("Unknown(%q) = %v, want %s", c.name, err, c.want)
		}
	}
}

// A name that is typed right is its own nearest, and nothing else is made up.
func FuzzNearest(f *testing.F) {
	f.Add("fixed", "fxied", "jacobson")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		got, ok := spec.Nearest(text, []string{a, b})
		if ok && got != a && got != b {
			t.Fatalf("Nearest(%q) = %q, which is neither %q nor %q", text, got, a, b)
		}
		if text != "" && text == a && text != b && (!ok || got != a) && text == strings.ToLower(text) {
			t.Fatalf("Nearest(%q) = %q, want the name itself", text, got)
		}
	})
}
