package datasets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tickmark/tickmark/datasets"
)

// A duration that cannot be one must not be taken for another, and the reader says so.
func TestHeaderDurationsThatCannotBe(t *testing.T) {
	for _, c := range []struct{ key, text, wrong string }{
		{"listen", "2s", ""},
		{"listen", "5", "want a duration with its unit"},
		{"listen", "NaN", "want a duration with its unit"},
		{"listen", "99999999999999h", "want a duration with its unit"},
		{"listen", "2000000h", "longer than 146 years"},
		{"listen", "-1s", "must be positive"},
		{"listen", "0s", "must be positive"},
		{"observed", "0s", "must be positive"},
		{"precision", "-1ns", "must not be negative"},
		{"precision", "0s", ""},
		{"self-bias", "-1µs", ""},
		{"self-bias", "", "want a duration with its unit"},
	} {
		text := "tickmark-trace 1\nkind: rtt\n" + c.key + ": " + c.text + "\n" + rttColumns + "# end: 0\n"
		s, err := datasets.Open("x", strings.NewReader(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Next(&datasets.Sample{})
		var want []string
		if c.wrong != "" {
			want = []string{fmt.Sprintf("x: %s %q: %s; taken as unknown", c.key, c.text, c.wrong)}
		}
		d, ok := s.Header().Duration(c.key)
		if diff := cmp.Diff(want, s.Warnings()); diff != "" || ok != (c.wrong == "") || !ok && d != 0 {
			t.Errorf("%s %q: taken as %v, %v; warnings %s", c.key, c.text, d, ok, diff)
		}
	}
	if d, ok := (&datasets.Header{}).Duration("listen"); ok {
		t.Errorf("without one: %v", d)
	}
}

func TestHeaderKeysAreLimitedAndDifferent(t *testing.T) {
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: v\n", i)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		keys(999):                   "", // and the kind
		keys(1000):                  "x:1002: more than 1000 header lines",
		"target: a\ntarget: b\n":    `x:4: key "target" stands twice`,
		"kind: pause\nlisten: 2s\n": `x:3: key "kind" stands twice`,
	} {
		_, err := datasets.Open("x", strings.NewReader("tickmark-trace 1\nkind: rtt\n"+text+rttColumns), nil)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%.30q…: got %v, want %s", text, err, want)
		}
	}
	// Nor can the end of a file make the header grow without limit.
	end := "# " + strings.ReplaceAll(strings.TrimSpace(keys(2000)), "\n", "\n# ") + "\n"
	s, err := datasets.Open("x", strings.NewReader("tickmark-trace 1\nkind: rtt\n"+rttColumns+end), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Next(&datasets.Sample{})
	if n := len(s.Header().Fields()); n != 1000 || len(s.Warnings()) == 0 {
		t.Errorf("%d fields, warnings %q", n, s.Warnings())
	}
}

const (
	rttColumns = "seq\tcall\tattempt\tdue\tsent\telapsed\toutcome\tcopies\tdeadline\n"
	rttRow     = "0\t0\t1\t0\t0\t1000\treplied\t1\t-\n"
)
