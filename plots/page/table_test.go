package page

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tickmark/tickmark/analysis/report"
	"github.com/tickmark/tickmark/analysis/unit"
)

// FuzzCellsComeBack holds that a word of a table reaches the page as it was, its
// white space apart, and leaves its neighbours alone.
func FuzzCellsComeBack(f *testing.F) {
	for _, s := range []string{"", "a", "a | b", `\|`, `\\| x`, "<b>", "`code`", "*_*", "-", "| ", " |", "---:", "&lt;", "é\u00a0ü"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
			t.Skip("the report marks what cannot be printed")
		}
		table := report.Table{Name: "t", Columns: []report.Column{{Name: "word"}, {Name: "other"}}, Rows: [][]any{{s, "x"}, {"y", s}}}
		got := shown(&table)
		want := strings.Join(strings.Fields(s), " ")
		for _, c := range []string{got.Rows[0][0].Text, got.Rows[1][1].Text} {
			if c != want && c != unit.Absent {
				t.Errorf("%q came as %q", want, c)
			}
		}
	})
}
