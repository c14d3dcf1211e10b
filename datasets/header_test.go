package datasets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tickmark/tickmark/datasets"
)

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
