package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A word that is too wide is broken after commas, or where it must be; nothing is lost.
func TestFold(t *testing.T) {
	for text, want := range map[string][]string{
		"one two three":             {"one two", "three"},
		"udp:a=1,size=96,spin=50µs": {"udp:a=1,", "size=96,", "spin=50µs"},
		"xxxxxxxxxxxxxxxxx":         {"xxxxxxxxx", "xxxxxxxx"},
		"":                          {""},
	} {
		if diff := cmp.Diff(want, fold(text, 9)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
