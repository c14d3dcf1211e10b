package probes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHeaders(t *testing.T) {
	for text, want := range map[string]http.Header{
		"":                               {},
		"# a: b\n\n":                     {},
		"a: b":                           {"A": {"b"}},
		"a:b\r\nA: c: d \r\n":            {"A": {"b", "c: d"}},
		"x-empty:":                       {"X-Empty": {""}},
		"Authorization: Basic YTpi\n\n#": {"Authorization": {"Basic YTpi"}},
	} {
		if got, err := parseHeaders(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, line := range map[string]string{
		"sesame":                     "1:",
		"a: b\nse same: x":           "2:",
		"a: se\x01same":              "1:",
		": sesame":                   "1:",
		"\n\nContent-Length: 5":      "3:",
		"transfer-encoding: chunked": "1:",
	} {
		got, err := parseHeaders(text)
		if err == nil || !strings.HasPrefix(err.Error(), line) || strings.Contains(err.Error(), "same") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// What is read can be written again and read as the same, and each value stands in the
// text, on one line.
func FuzzParseHeaders(f *testing.F) {
	f.Add("a: b\nA: c\n# d\n\nx:")
	f.Add("Authorization: Bearer x=:y\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHeaders(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var again strings.Builder
		for name, values := range h {
			for _, v := range values {
				if !strings.Contains(text, v) || strings.ContainsAny(name+v, "\r\n") {
					t.Fatalf("%q: %q: %q", text, name, v)
				}
				again.WriteString(name + ": " + v + "\n")
			}
		}
		if got, err := parseHeaders(again.String()); err != nil || !cmp.Equal(got, h) {
			t.Fatalf("%q: %v, then %v, %v", text, h, got, err)
		}
	})
}
