package probes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		`true`:                     {"true"},
		"  curl  -s\thttp://x \n":  {"curl", "-s", "http://x"},
		`sh -c 'sleep 1; exit 3'`:  {"sh", "-c", "sleep 1; exit 3"},
		`echo "a 'b' \"c\" \n \\"`: {"echo", `a 'b' "c" \n \`},
		`echo 'a\'b`:               {"echo", `a\b`},
		`echo a\ b\\ \'`:           {"echo", `a b\`, `'`},
		`e''cho "" ''`:             {"echo", "", ""},
		`echo $HOME *`:             {"echo", "$HOME", "*"},
		`é 'ü'`:                    {"é", "ü"},
		``:                         nil,
		`   `:                      nil,
		`''`:                       nil,
		`echo 'a`:                  nil,
		`echo "a\"`:                nil,
		`echo \`:                   nil,
		"echo a\x00b":              nil,
	} {
		got, err := splitWords(line)
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == nil) {
			t.Errorf("%q: %v\n%s", line, err, diff)
		}
	}
}

// Words that are quoted come back as they were, and no word has what only quotes give.
func FuzzSplitWords(f *testing.F) {
	for _, s := range []string{"a b", `a 'b c' "d"`, `a\ b`, "a\n\tb", "'"} {
		f.Add(s)
	}
	quote := func(w string) string { return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'" }
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitWords(line)
		if err != nil {
			return
		}
		var again []string
		for _, w := range words {
			if !strings.ContainsAny(line, `'"\`) && (w == "" || strings.ContainsAny(w, " \t\n") || !strings.Contains(line, w)) {
				t.Fatalf("%q: word %q", line, w)
			}
			again = append(again, quote(w))
		}
		got, err := splitWords(strings.Join(again, " "))
		if diff := cmp.Diff(words, got); diff != "" || err != nil {
			t.Fatalf("%q: %v\n%s", line, err, diff)
		}
	})
}
