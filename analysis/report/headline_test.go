package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadlineBreaksBelowItsIndent(t *testing.T) {
	fits := "  use  a          b"
	long := "  " + strings.TrimSpace(strings.Repeat("word ", 30))
	got := headline([]string{fits, long})
	want := []string{
		fits,
		"  " + strings.TrimSpace(strings.Repeat("word ", 19)), // 2 + 19·5 − 1 = 96; one more would be 101
		"    " + strings.TrimSpace(strings.Repeat("word ", 11)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
